# Where tables, figures, logs and times are.
def table(name):
    """A table below the results, say "tuning/{dataset}"."""
    return f"{RESULTS}/{name}.csv"


def figure(name):
    return f"{RESULTS}/figures/{name}.svg"


def log_of(name):
    return f"{RESULTS}/logs/{name}.log"


def time_of(name):
    """How long the job of a table took, and its memory, as Snakemake measures it."""
    return f"{RESULTS}/benchmarks/{name}.tsv"


def seconds_of(name):
    """How long each audit of a family took."""
    return table(f"benchmarks/auditors/{name}")


def in_report(path, category, subcategory, caption, **labels):
    """A file that Snakemake's own report shows, under which headings, with which file of a caption."""
    return report(
        path,
        category=category,
        subcategory=subcategory,
        caption=caption,
        labels=labels,
    )


def reported_table(path, category, subcategory, **labels):
    """A table in Snakemake's report; the parameter `caption` of its rule says what it shows."""
    return in_report(path, category, subcategory, "../report/table.rst", **labels)


def reported_figure(name, category, subcategory, label):
    """A figure in Snakemake's report, with the caption that is written beside it."""
    caption = os.path.abspath(f"{RESULTS}/figures/{name}.rst")
    return in_report(figure(name), category, subcategory, caption, figure=label)
