/** Markup for a page. All other content of a page is escaped. */
export type Markup = { readonly markup: string };

/** An HTML template. Escapes texts, but not markup and lists of markup; undefined becomes empty. */
export function page(
  texts: TemplateStringsArray,
  ...values: readonly (string | number | undefined | Markup | readonly Markup[])[]
): Markup {
  const shown = values.map((value) => {
    if (value === undefined) return '';
    if (typeof value === 'string' || typeof value === 'number') return escape(String(value));
    return 'markup' in value ? value.markup : value.map(({ markup }) => markup).join('');
  });
  return { markup: String.raw({ raw: texts }, ...shown) };
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0)};`);
}

/** Renders a whole page with a heading. The page has no script, is light or dark, and is readable on a phone. */
export function renderPage(heading: string, content: Markup): string {
  return page`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>${heading}</title>
<style>${{ markup: style }}</style>
</head>
<body>
<nav aria-label="Pages"><a href="/simulator">Controls</a> · <a href="/simulator/traces">Traces</a></nav>
<main>
<h1>${heading}</h1>
${content}
</main>
</body>
</html>
`.markup;
}

const style = `
:root { color-scheme: light dark; --text: #1f2733; --dim: #5b6675; --edge: #d6dce4; --back: #ffffff; --card: #f4f6f9; --link: #0a58a8; --well: #176b3c; --ill: #b3261e; --other: #6b5500; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e3e8ef; --dim: #9ba8b8; --edge: #333d4a; --back: #12171e; --card: #1b222c; --link: #7db9ff; --well: #62d29b; --ill: #ff9288; --other: #e3c255; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 78rem; padding: 1rem; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
nav { border-bottom: 1px solid var(--edge); padding-bottom: .6rem; color: var(--dim); }
a { color: var(--link); }
h1 { font-size: 1.35rem; line-height: 1.3; }
h2 { font-size: 1.1rem; margin: 1.5rem 0 .25rem; }
.dim { color: var(--dim); }
p.dim { margin: .25rem 0 .75rem; }
.well { color: var(--well); } .ill { color: var(--ill); font-weight: 600; } .other { color: var(--other); }
table { border-collapse: collapse; width: 100%; }
th, td { border-top: 1px solid var(--edge); padding: .35rem .75rem .35rem 0; text-align: left; vertical-align: top; font-weight: 400; }
thead th { border: 0; color: var(--dim); font-size: .85rem; }
tr:target { background: var(--card); }
.count { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
form { display: flex; flex-wrap: wrap; gap: .5rem; }
button { font: inherit; padding: .4rem .9rem; border: 1px solid var(--edge); border-radius: 6px; background: var(--card); color: var(--link); cursor: pointer; }
@media (max-width: 40rem) {
  thead { display: none; }
  table, tbody, tr, td, tbody th { display: block; }
  tr { border-top: 1px solid var(--edge); padding: .4rem 0; display: flex; flex-wrap: wrap; gap: 0 1rem; }
  td, tbody th { border: 0; padding: 0; }
  tbody th { flex: 1 1 100%; }
}
`;
