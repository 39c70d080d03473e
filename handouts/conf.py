"""Settings of every book of handouts/; `autograder handouts` adds language, title and the course's facts."""

extensions = [
    "myst_parser",
    "autograder.authoring.handouts.demo",
    "autograder.authoring.handouts.directives",
    "autograder.authoring.handouts.mathml",
    "autograder.authoring.handouts.search",
    "autograder.authoring.handouts.words",
]
myst_enable_extensions = ["colon_fence", "dollarmath", "substitution"]
myst_heading_anchors = 3
myst_links_external_new_tab = False
nitpicky = True

html_theme = "furo"
html_math_renderer = "mathml"
html_static_path = ["_site/static"]
html_css_files = ["handouts.css"]
templates_path = ["_site/templates"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_copy_source = False
html_show_copyright = False
html_show_search_summary = False  # it would fetch pages, which a browser refuses for files
html_use_index = False
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
