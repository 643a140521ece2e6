"""The style of the HTML report: light and dark, wide and narrow."""

from ontoweir.draw.draw_chart import STYLE as CHARTS
from ontoweir.draw.draw_svg import STYLE as GRAPHS

PAGE_STYLE = (
    """
:root { color-scheme: light dark; --ink: #1c2530; --soft: #5b6875; --paper: #ffffff;
  --panel: #f5f7f9; --rule: #d8dfe5; --good: #2e7d4f; --some: #0b6b8a; --open: #8a5a00;
  --bad: #b3261e; --mark: #ffe3a3; --link: #0b57a4; }
@media (prefers-color-scheme: dark) { :root { --ink: #dde5ec; --soft: #97a6b3; --paper: #161d24;
  --panel: #1e2730; --rule: #34414d; --good: #79c596; --some: #74c7e3; --open: #e3b35c;
  --bad: #f2877e; --mark: #5b4610; --link: #8fc1ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 68rem; padding: 1rem; color: var(--ink);
  background: var(--paper); font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif; }
h1 { font-size: 1.5rem; margin: .5rem 0; } h3 { font-size: 1rem; margin: 1.2rem 0 .3rem; }
h2 { font-size: 1.15rem; margin: 0; overflow-wrap: anywhere; }
a { color: var(--link); } p { margin: .3rem 0; }
.soft { color: var(--soft); }
section { border-top: 1px solid var(--rule); padding: 1.2rem 0; }
pre, code { font: 13px/1.5 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
pre { background: var(--panel); border-radius: 6px; padding: .6rem .8rem; overflow-x: auto;
  margin: .4rem 0; }
pre.query { counter-reset: line; }
pre.query span.line { display: block; min-height: 1.5em; }
pre.query span.line::before { content: attr(data-number); display: inline-block; width: 2.2em;
  margin-right: .8em; text-align: right; color: var(--soft); user-select: none; }
pre.query span.here { background: color-mix(in srgb, var(--mark) 35%, transparent); }
mark { background: var(--mark); color: inherit; border-radius: 2px; }
.verdict { font-weight: 600; white-space: nowrap; }
.bounded, .unsatisfiable { color: var(--good); } .conditionally-bounded { color: var(--some); }
.undecided, .refused { color: var(--open); } .unbounded { color: var(--bad); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 14px; }
th, td { border-bottom: 1px solid var(--rule); padding: .25rem .7rem .25rem 0; text-align: left;
  vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
details { margin: .4rem 0; } summary { cursor: pointer; }
.tree details, .tree ul { margin: 0 0 0 .3rem; } .tree ul { padding-left: 1.1rem; }
.tree li:has(> details) { list-style: none; margin-left: -1rem; }
.tree li { margin: .15rem 0; overflow-wrap: anywhere; }
.place { color: var(--soft); font-size: .85em; overflow-wrap: anywhere; }
.hint { color: var(--good); }
.diagnostic { border-left: 3px solid var(--bad); padding-left: .8rem; margin: .8rem 0; }
.diagnostic.undecided { border-color: var(--open); color: inherit; }
.code { font-weight: 600; }
@media (max-width: 40rem) { body { padding: .6rem; font-size: 15px; }
  .summary .formula { display: none; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  pre.query span.line { padding-left: 3em; text-indent: -3em; }
  pre.query span.line::before { text-indent: 0; }
  .summary { width: 100%; } .summary td { overflow-wrap: anywhere; }
  .wide svg { max-width: 100%; height: auto; }
  .wide table { width: 100%; } .wide td, .wide th { overflow-wrap: anywhere; } }
@media print { details::details-content { content-visibility: visible; } }
"""
    + GRAPHS
    + CHARTS
)
"""CSS without anything from outside."""
