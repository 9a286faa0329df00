/** The style of every page. The style is part of the page, so that a browser needs only one request. */
export const style = `
:root { --ink: #1b2430; --soft: #526070; --line: #d9dfe7; --paper: #ffffff; --panel: #f4f6f9; --link: #0b5cad; --good: #17703f; --good-paper: #e9f6ee; --bad: #b42318; --bad-paper: #fdeceb; --off: #7a5b00; --off-paper: #fbf4df; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e9f0; --soft: #9aa7b8; --line: #313b49; --paper: #12171e; --panel: #1a212b; --link: #7ab8ff; --good: #5fd39a; --good-paper: #13281f; --bad: #ff8f85; --bad-paper: #331a1a; --off: #e5c04b; --off-paper: #2c2614; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
a { color: var(--link); }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 3px; }
.skip { position: absolute; left: -100vw; padding: .5rem 1rem; background: var(--paper); }
.skip:focus { left: 0; z-index: 1; }
header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 1.5rem; border-bottom: 1px solid var(--line); background: var(--panel); padding: .5rem max(1rem, calc((100vw - 66rem) / 2)); }
.brand { color: var(--ink); font-weight: 600; text-decoration: none; padding: .25rem 0; }
nav ul { display: flex; flex-wrap: wrap; gap: 0 1.1rem; list-style: none; margin: 0; padding: 0; }
nav a { display: block; color: var(--soft); text-decoration: none; padding: .25rem 0; border-bottom: 2px solid transparent; }
nav a:hover { color: var(--ink); }
nav a[aria-current] { color: var(--ink); font-weight: 600; border-bottom-color: var(--link); }
main { max-width: 68rem; margin: 0 auto; padding: 1rem; }
main:has(.waterfall) { max-width: 84rem; }
body:has(.waterfall) header { padding-inline: max(1rem, calc((100vw - 82rem) / 2)); }
h1 { font-size: clamp(1.15rem, 5vw, 1.5rem); line-height: 1.3; margin: .5rem 0 1rem; }
h2 { font-size: 1.2rem; margin: 1.5rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1rem 0 .25rem; }
p.note { color: var(--soft); margin: .25rem 0 .75rem; font-size: .9rem; }
.good { color: var(--good); } .bad { color: var(--bad); } span.off, p.off { color: var(--off); }
.headline { border: 1px solid; border-left-width: 6px; border-radius: 6px; padding: .6rem .9rem; margin: .5rem 0; }
.headline.good { background: var(--good-paper); } .headline.bad { background: var(--bad-paper); }
.headline.off { background: var(--off-paper); color: var(--off); }
.headline h1 { margin: 0; display: flex; gap: .5rem; }
.headline p { margin: .5rem 0 0; color: var(--ink); }
.headline ul { margin: .25rem 0 0; padding-left: 1.25rem; color: var(--ink); }
.headline .id { font-weight: 400; }
.silence { border-left: 6px solid; padding: .1rem 0 .1rem .9rem; font-weight: 600; }
section { border: 1px solid var(--line); border-radius: 8px; padding: .25rem 1rem .5rem; margin: .75rem 0; }
section > h2 { margin-top: .75rem; }
.state { font-size: .95rem; font-weight: 600; display: inline-block; }
h2 .state { margin-left: .25rem; }
summary { cursor: pointer; padding: .25rem 0; }
summary h2, summary h3 { display: inline; margin: 0; }
details.server > summary { padding: .2rem 0; }
section:has(> details.server:not([open])) { padding: .1rem 1rem; margin: .4rem 0; }
details.collectors { margin: .75rem 0 .25rem; }
details.collectors > summary h3 { font-weight: 500; }
dl { display: flex; flex-wrap: wrap; gap: .4rem 1.75rem; margin: .5rem 0 1rem; }
dl div { min-width: 0; }
dt { color: var(--soft); font-size: .8rem; } dt::first-letter { text-transform: uppercase; }
dd { margin: 0; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; margin: .5rem 0; }
th, td { text-align: left; padding: .3rem .75rem .3rem 0; border-top: 1px solid var(--line); vertical-align: top; }
thead th { border-top: 0; color: var(--soft); font-weight: 500; font-size: .8rem; white-space: nowrap; }
tbody th { font-weight: 500; }
.number { text-align: right; white-space: nowrap; }
.brief { white-space: nowrap; }
td.server { min-width: 5rem; }
th.job, td.change { min-width: 10rem; }
.obstacle { display: inline-block; max-width: 13rem; }
th.wide, td.wide { width: 35%; padding-left: 1rem; }
th.number:last-child, td.number:last-child { padding-right: 0; }
tr.success td { color: var(--soft); }
tr.failed th, tr.off th { font-weight: 700; }
tr.why td { border-top: 0; padding-top: 0; color: var(--ink); }
tbody th .id { color: var(--soft); font-weight: 400; font-size: .875em; white-space: nowrap; }
.soft { color: var(--soft); font-size: .9rem; }
.offs { color: var(--soft); font-size: .9rem; }
.offs ul { margin: 0; padding-left: 1.25rem; }
.offs b { font-weight: 500; color: var(--ink); }
.mend, .hint { border-left: 6px solid var(--line); padding: .1rem 0 .1rem .9rem; margin: 1rem 0; }
.mend { border-left-color: var(--bad); }
.mend p, .hint p { margin: .25rem 0; }
.mend h3, .hint h3 { margin-top: .25rem; }
code, pre { font: .9em/1.45 ui-monospace, monospace; background: var(--panel); border-radius: 4px; overflow-wrap: normal; }
code { padding: .1em .3em; overflow-wrap: anywhere; }
pre { padding: .75rem; overflow-x: auto; white-space: pre-wrap; }
pre code { padding: 0; background: none; overflow-wrap: anywhere; user-select: all; }
code.copy { user-select: all; }
ul.links { list-style: none; padding: 0; display: grid; grid-template-columns: repeat(auto-fill, minmax(min(15rem, 100%), 1fr)); gap: .5rem; }
ul.links a { display: block; background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: .6rem .8rem; text-decoration: none; height: 100%; }
ul.links.wide { grid-template-columns: repeat(auto-fill, minmax(min(24rem, 100%), 1fr)); }
.reference table { font-size: .9rem; table-layout: fixed; }
.reference th:first-child { width: 34%; } .reference th:nth-child(2) { width: 6rem; } .reference th:nth-child(3) { width: 20%; }
.reference td:first-child { overflow-wrap: anywhere; }
ul.links a:hover { border-color: var(--link); }
ul.links span { display: block; color: var(--soft); font-size: .875rem; }
.waterfall table { table-layout: fixed; }
.waterfall thead th { width: 27%; }
.waterfall th.axis { width: 33%; }
.waterfall th.number { width: 7rem; }
.waterfall tbody th .id, .headline .id { white-space: normal; }
.waterfall th.axis span + span { float: right; }
.waterfall tbody th { padding-left: calc(var(--depth) * 1rem); }
.waterfall td.track { padding-right: .75rem; }
.waterfall .track i { display: block; height: .85rem; margin-top: .3rem; margin-left: min(var(--from), calc(100% - 3px)); width: var(--for); min-width: 3px; border: 1px solid var(--link); border-radius: 2px; background: var(--link); }
.waterfall tr.success .track i { border-color: var(--good); background: var(--good); }
.waterfall tr.stopped .track i { border-color: var(--off); background: none; }
.waterfall tr.failed .track i { border-color: var(--bad); background: repeating-linear-gradient(45deg, var(--bad) 0 4px, var(--bad-paper) 4px 7px); }
.waterfall .why { display: block; color: var(--soft); font-size: .9rem; }
.waterfall tr.failed .why { color: var(--ink); }
.waterfall tr.gap td { color: var(--soft); }
.chart { margin: .75rem 0; }
.chart figcaption { font-size: .9rem; color: var(--soft); }
.chart .plot { position: relative; height: 5.5rem; border-bottom: 1px solid var(--line); border-top: 1px dashed var(--line); margin-top: 1rem; }
.chart svg { display: block; width: 100%; height: 100%; }
.chart .top { position: absolute; bottom: 100%; left: 0; color: var(--soft); font-size: .75rem; line-height: 1.2; }
.chart .axis { display: flex; justify-content: space-between; color: var(--soft); font-size: .75rem; }
.chart rect.plain { fill: var(--link); } .chart rect.good { fill: var(--good); } .chart rect.bad { fill: var(--bad); } .chart rect.off { fill: var(--off); } .chart rect.open { fill: var(--soft); opacity: .4; }
.chart rect.place { fill: transparent; } .chart rect.marked { fill: var(--line); } .chart g:hover rect.place { fill: var(--line); }
.chart .usual { stroke: var(--ink); stroke-width: 1; stroke-dasharray: 4 3; vector-effect: non-scaling-stroke; }
.chart .limit { stroke: var(--bad); stroke-width: 1; vector-effect: non-scaling-stroke; }
.spark { display: block; width: 5rem; height: 1.35rem; margin-top: .1rem; }
.spark .good { fill: var(--good); } .spark .bad { fill: var(--bad); } .spark .off { fill: var(--off); }
form { display: flex; flex-wrap: wrap; gap: .25rem .75rem; align-items: baseline; }
button, input, select { font: inherit; font-size: .9rem; color: var(--ink); background: var(--paper); border: 1px solid var(--line); border-radius: 6px; padding: .3rem .6rem; max-width: 100%; }
button { color: var(--link); background: var(--panel); cursor: pointer; }
button:hover { border-color: var(--link); }
form.filter { gap: .5rem 1rem; margin: .75rem 0; }
form.filter label { color: var(--soft); font-size: .9rem; min-width: 0; max-width: 100%; }
form.filter select { max-width: min(100%, 16rem); text-overflow: ellipsis; }
form summary { color: var(--soft); font-size: .9rem; }
details button { color: var(--bad); margin-top: .25rem; }
@media (min-width: 48.01rem) and (max-width: 60rem) {
  thead th { white-space: normal; overflow-wrap: normal; }
  .spare { display: none; }
}
@media (max-width: 48rem) {
  section thead { display: none; }
  section table, section tbody, section tr, section tbody th, section td { display: block; }
  section tbody th, section td { padding: 0; border: 0; text-align: left; }
  section tr { border-top: 1px solid var(--line); padding: .4rem 0; display: flex; flex-wrap: wrap; gap: 0 1rem; }
  section tr.why { border-top: 0; padding-top: 0; }
  section tbody th { flex: 1 1 100%; }
  section.waterfall tbody th { padding-left: calc(var(--depth) * .5rem); }
  section.waterfall td.track { flex: 1 1 100%; padding: 0; }
  .waterfall .track i { height: .5rem; margin-top: .1rem; margin-bottom: .2rem; }
  section.waterfall td.result { flex: 1 1 100%; }
  .spark { display: inline-block; vertical-align: bottom; }
  .obstacle { display: inline; }
  section td.none { display: none; }
  section td.brief { white-space: normal; }
  section td.wide { width: auto; padding-left: 0; }
  section td[data-is]:not([data-is="Result"]):not([data-is="State"])::before { content: attr(data-is) " "; color: var(--soft); font-size: .8rem; }
}
`;
