/** How the pages of traces look: no script, light and dark, readable on a phone. */
export const style = `
:root { color-scheme: light dark; --text: #1f2733; --dim: #5b6675; --edge: #d6dce4; --back: #ffffff; --card: #f4f6f9; --link: #0a58a8; --well: #176b3c; --ill: #b3261e; --other: #6b5500; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e3e8ef; --dim: #9ba8b8; --edge: #333d4a; --back: #12171e; --card: #1b222c; --link: #7db9ff; --well: #62d29b; --ill: #ff9288; --other: #e3c255; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 78rem; padding: 1rem; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
nav { border-bottom: 1px solid var(--edge); padding-bottom: .6rem; color: var(--dim); }
a { color: var(--link); }
h1 { font-size: 1.35rem; line-height: 1.3; }
h1 .dim { font-weight: 400; }
h2 { font-size: 1.1rem; margin: 1.5rem 0 .25rem; }
.dim { color: var(--dim); }
p.dim { margin: .25rem 0 .75rem; }
.well { color: var(--well); } .ill { color: var(--ill); font-weight: 600; } .other { color: var(--other); }
table { border-collapse: collapse; width: 100%; }
th, td { border-top: 1px solid var(--edge); padding: .35rem .75rem .35rem 0; text-align: left; vertical-align: top; font-weight: 400; }
thead th { border: 0; color: var(--dim); font-size: .85rem; }
.count { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
dl { display: grid; grid-template-columns: minmax(min-content, max-content) 1fr; gap: .15rem 1rem; margin: .5rem 0; }
dt { color: var(--dim); } dd { margin: 0; }
details > dl { background: var(--card); border-radius: 6px; padding: .5rem .75rem; font-size: .9rem; }
.tree details { border-top: 1px solid var(--edge); }
.tree summary { display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 3fr) 6rem; gap: .75rem; padding: .3rem 0; cursor: pointer; }
.tree .name { padding-left: calc(var(--depth) * 1rem); }
.tree i { display: block; height: .8rem; margin-top: .35rem; margin-left: min(var(--from), calc(100% - 3px)); width: var(--for); min-width: 3px; border-radius: 2px; background: var(--well); }
.tree .ill + span i { background: repeating-linear-gradient(45deg, var(--ill) 0 4px, transparent 4px 7px); outline: 1px solid var(--ill); }
.tree .other + span i { background: var(--other); }
@media (max-width: 40rem) {
  thead { display: none; }
  table, tbody, tr, td, tbody th { display: block; }
  tr { border-top: 1px solid var(--edge); padding: .4rem 0; display: flex; flex-wrap: wrap; gap: 0 1rem; }
  td, tbody th { border: 0; padding: 0; }
  tbody th { flex: 1 1 100%; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .3rem; }
  .tree summary { grid-template-columns: minmax(0, 1fr) auto; gap: 0 .75rem; }
  .tree .name { padding-left: calc(var(--depth) * .5rem); }
  .tree .track { grid-column: 1 / -1; grid-row: 2; }
}
`;
