import type { Request } from 'express';
import { type Html, html, trust } from './html.ts';
import { style } from './style.ts';

type Page = {
  readonly title: string;
  readonly body: Html;
  /** The path of the front page, relative to this page. */
  readonly root: string;
  /** After how many seconds a browser asks for it again; never, unless told. */
  readonly refreshSeconds?: number | undefined;
};

/** A whole page around a body: no script, light and dark, readable on a phone. */
export function renderPage({ title, body, root, refreshSeconds }: Page): string {
  const refresh =
    refreshSeconds === undefined ? undefined : html`<meta http-equiv="refresh" content="${refreshSeconds}">`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${refresh}<link rel="icon" href="data:,">
<title>${title}</title>
<style>${trust(style)}</style>
</head>
<body>
<header><a class="brand" href="${root}">automation-exporter</a></header>
<main>
${body}
</main>
</body>
</html>
`.text;
}

/** The way to the front page from the page that was asked for: right behind every proxy, whatever it puts before our paths. */
export function toRoot({ path }: Pick<Request, 'path'>): string {
  return '../'.repeat(path.split('/').length - 2) || './';
}
