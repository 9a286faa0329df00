import { type Markup, page } from './traces/markup.ts';
import { style } from './traces/style.ts';

/** One button: a control, and the body that it is called with. */
type Press = { readonly text: string; readonly path: string; readonly body: object };

const groups: readonly { readonly about: string; readonly presses: readonly Press[] }[] = [
  {
    about: 'Execution mode',
    presses: [
      { text: 'Make it passive', path: 'execution-mode', body: { mode: 'passive' } },
      { text: 'Make it active', path: 'execution-mode', body: { mode: 'active' } },
    ],
  },
  {
    about: 'Log storage',
    presses: [
      { text: 'Let it fail', path: 'log-storage', body: { failing: true } },
      { text: 'Let it work', path: 'log-storage', body: { failing: false } },
    ],
  },
  {
    about: 'Health check of the database',
    presses: [
      { text: 'Let it fail', path: 'health-check', body: { failing: 'dataSource.connection.time' } },
      { text: 'Heal it', path: 'health-check', body: { failing: null } },
    ],
  },
  {
    about: 'Jobs',
    presses: [
      { text: 'Let steps fail six times as often', path: 'conditions', body: { failureFactor: 6 } },
      { text: 'As usual', path: 'conditions', body: { failureFactor: 1 } },
    ],
  },
  {
    about: 'Node pay02',
    presses: [
      { text: 'Take it down', path: 'conditions', body: { downNodes: ['pay02'] } },
      { text: 'Bring it back', path: 'conditions', body: { downNodes: [] } },
    ],
  },
  {
    about: 'Clock',
    presses: [
      { text: 'Ten minutes ahead', path: 'clock-skew', body: { ms: 600_000 } },
      { text: 'Set it right', path: 'clock-skew', body: { ms: 0 } },
    ],
  },
  {
    about: 'Server',
    presses: [
      { text: 'Restart it, away for a minute', path: 'restart', body: { downForMs: 60_000 } },
      { text: 'Answer every request with 503', path: 'fault', body: { kind: 'status', status: 503 } },
      { text: 'End all faults', path: 'faults/clear', body: {} },
    ],
  },
];

/** The controls as a page of buttons, for a person without curl. */
export function renderControls(done: string | undefined): string {
  const note = done === undefined ? undefined : page`<p class="well" role="status">✓ ${done}</p>\n`;
  return page`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>Controls of the simulated service</title>
<style>${{ markup: `${style}form { display: flex; flex-wrap: wrap; gap: .5rem; } button { font: inherit; padding: .4rem .9rem; border: 1px solid var(--edge); border-radius: 6px; background: var(--card); color: var(--link); cursor: pointer; }` }}</style>
</head>
<body>
<nav aria-label="Pages"><a href="/simulator/traces">Traces</a></nav>
<main>
<h1>Controls of the simulated service</h1>
${note}<p class="dim">Each change is seen by the exporter at its next poll. Alerts that wait for minutes fire after these.</p>
${groups.map(renderGroup)}
<h2>More, with curl</h2>
<p><code>curl /simulator</code> lists all controls with an example each.</p>
</main>
</body>
</html>
`.markup;
}

function renderGroup({ about, presses }: (typeof groups)[number]): Markup {
  const buttons = presses.map(
    (press, index) =>
      page`<button name="press" value="${toName(about, index)}" aria-label="${about}: ${press.text}">${press.text}</button>\n`,
  );
  return page`<h2>${about}</h2>
<form method="post" action="/simulator/press">${buttons}</form>
`;
}

function toName(about: string, index: number): string {
  return `${about} ${index}`;
}

/** Finds the button that was pressed; undefined for a name that no button has. */
export function findPress(name: unknown): (Press & { readonly about: string }) | undefined {
  for (const { about, presses } of groups) {
    const found = presses.find((_, index) => toName(about, index) === name);
    if (found !== undefined) return { ...found, about };
  }
  return undefined;
}
