/** A whole page around a body: no script, light and dark, readable on a phone. */
export function renderPage(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
<header><a class="brand" href="/">automation-exporter</a></header>
<main>
${body}
</main>
</body>
</html>
`;
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

const style = `
:root { --ink: #1b2430; --soft: #5b6878; --line: #d9dfe7; --paper: #ffffff; --panel: #f5f7fa; --link: #0b5cad; --good: #1a7f4b; --bad: #b42318; --off: #7a5b00; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e9f0; --soft: #9aa7b8; --line: #313b49; --paper: #12171e; --panel: #1a212b; --link: #7ab8ff; --good: #5fd39a; --bad: #ff8f85; --off: #e5c04b; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
header { border-bottom: 1px solid var(--line); padding: .75rem 1rem; }
.brand { color: var(--ink); font-weight: 600; text-decoration: none; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: clamp(1.15rem, 5vw, 1.5rem); margin: .5rem 0 1rem; }
h2 { font-size: 1.15rem; margin: 1.5rem 0 .5rem; }
a { color: var(--link); }
p.note { color: var(--soft); margin: .25rem 0 .75rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .35rem .6rem .35rem 0; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: normal; }
th { color: var(--soft); font-weight: 500; font-size: .875rem; }
code, pre { font: .9em/1.45 ui-monospace, monospace; background: var(--panel); border-radius: 4px; }
code { padding: .1em .3em; }
pre { padding: .75rem; overflow-x: auto; }
pre code { padding: 0; background: none; }
.good { color: var(--good); } .bad { color: var(--bad); } .off { color: var(--off); }
ul.links { list-style: none; padding: 0; display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: .5rem; }
ul.links a { display: block; background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: .6rem .8rem; text-decoration: none; }
ul.links span { display: block; color: var(--soft); font-size: .875rem; }
`;
