"""The digits that come with the kit."""

import numpy as np

from labkit.data import digits


def test_there_are_as_many_of_each_digit_as_their_source_says():
    images, labels = digits()
    assert images.shape == (1797, 8, 8) and labels.shape == (1797,)
    assert images.dtype == np.float32 and labels.dtype == np.int64
    # The repository's own table of the test set.
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


def test_images_are_dark_strokes_on_white_in_sixteenths():
    images, labels = digits()
    assert images.min() == 0 and images.max() == 1
    assert (images * 16 == np.round(images * 16)).all()
    middle = images[:, 2:6, 3:5].mean((1, 2))
    assert middle[labels == 0].mean() < 0.3 < 0.7 < middle[labels == 1].mean()  # a ring is empty inside


def test_each_call_gives_arrays_of_its_own():
    digits()[0][:] = -1
    assert digits()[0].min() == 0
