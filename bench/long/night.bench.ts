import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startAlertmanager, startPrometheus } from '../../test/support/prometheus.ts';
import { createNotes, type Note, type Place, routesTo, startPlace, token } from './night-scene.ts';
import { startServe } from './serving.ts';

/** The phases in real minutes: all servers work, nine have a problem, all work again. */
const minutes = Number(process.env['NIGHT_MINUTES'] ?? 56);
const calmMinutes = minutes * 0.08;
const troubleMinutes = minutes * 0.45;
const tools = {
  prometheus: process.env['PROMETHEUS'] ?? 'prometheus',
  alertmanager: process.env['ALERTMANAGER'] ?? 'prometheus-alertmanager',
};
const intervals = ['15s', '60s'] as const;

type Trouble = {
  readonly server: string;
  readonly begin: (place: Place) => unknown;
  readonly end: (place: Place) => unknown;
  /** The alert that must notify. */
  readonly alert: string;
  /** Alerts with the same cause, which may also notify. */
  readonly consequences?: readonly string[];
};

/** These warnings come when runs start again. */
const missing = ['AutomationScheduleMissed', 'AutomationScheduleLate', 'AutomationPunctualityBurnSlow'];

const troubles: readonly Trouble[] = [
  {
    server: 'passive',
    begin: ({ simulator }) => simulator.control.setExecutionMode('passive'),
    end: ({ simulator }) => simulator.control.setExecutionMode('active'),
    alert: 'AutomationExecutionModePassive',
    consequences: missing,
  },
  { server: 'down', begin: ({ door }) => door.close(), end: ({ door }) => door.open(), alert: 'AutomationServiceDown' },
  {
    server: 'log-storage',
    begin: ({ simulator }) => simulator.control.failLogStorage(true),
    // The repair includes the failed logs.
    end: async ({ simulator }) => {
      simulator.control.failLogStorage(false);
      const headers = { 'X-Rundeck-Auth-Token': simulator.token };
      await fetch(`${simulator.url}/api/47/system/logstorage/incomplete/resume`, { method: 'POST', headers });
    },
    alert: 'AutomationLogStorageFailing',
  },
  {
    server: 'check',
    begin: ({ simulator }) => simulator.control.failHealthCheck('dataSource.connection.time'),
    end: ({ simulator }) => simulator.control.failHealthCheck(undefined),
    alert: 'AutomationHealthcheckFailing',
  },
  {
    server: 'clock',
    begin: ({ simulator }) => simulator.control.setClockSkew(600_000),
    end: ({ simulator }) => simulator.control.setClockSkew(0),
    alert: 'AutomationServerClockSkewed',
  },
  {
    server: 'node',
    begin: ({ simulator }) => simulator.control.setConditions({ downNodes: ['web01'] }),
    end: ({ simulator }) => simulator.control.setConditions({ downNodes: [] }),
    alert: 'AutomationNodeFailingEverywhere',
    // A project in which every execution fails also violates its objective.
    consequences: ['AutomationErrorBudgetBurnFast', 'AutomationErrorBudgetBurnSlow'],
  },
  {
    server: 'token',
    begin: ({ simulator }) => simulator.control.revokeToken(token),
    end: ({ simulator }) => simulator.control.addToken({ token }),
    alert: 'AutomationCredentialsRejected',
  },
  {
    server: 'half-blind',
    begin: ({ simulator }) => simulator.control.addToken({ token, policy: { jobs: ['pay'] } }),
    end: ({ simulator }) => simulator.control.addToken({ token }),
    alert: 'AutomationExporterExecutionsHidden',
  },
  {
    server: 'queue',
    begin: ({ simulator, jobs }) => simulator.control.setConditions({ stuckJobs: jobs }),
    end: ({ simulator }) => {
      simulator.control.setConditions({ stuckJobs: [] });
      for (const { id, status } of simulator.truth().executions) if (status === 'running') simulator.control.abort(id);
    },
    alert: 'AutomationSchedulerSaturated',
    consequences: missing,
  },
];

const healthy = 'healthy';

/** Plays a night in which nine of ten servers have one problem each, with the shipped rules and routes. */
export async function run() {
  const directory = mkdtempSync(join(tmpdir(), 'automation-exporter-night-'));
  const endings: (() => Promise<unknown>)[] = [];
  try {
    const places = new Map<string, Place>();
    for (const server of [...troubles.map((trouble) => trouble.server), healthy]) {
      const place = await startPlace();
      places.set(server, place);
      endings.push(() => place.simulator.stop(), place.door.close);
    }
    writeFileSync(join(directory, 'token'), `${token}\n`, { mode: 0o600 });
    writeFileSync(
      join(directory, 'config.yaml'),
      `servers:\n${[...places].map(([name, { door }]) => `  - { name: ${name}, url: '${door.url}', token_file: token }\n`).join('')}`,
    );
    const serving = await startServe(directory);
    endings.push(serving.stop);
    const rules = await (await fetch(`${serving.url}/alerts/rules.yaml`)).text();
    const notes = createNotes();
    endings.push(notes.stop);
    for (const every of intervals) {
      const manager = await startAlertmanager(tools.alertmanager, '', routesTo(`${await notes.url()}/${every}`));
      endings.push(manager.stop);
      const prometheus = await startPrometheus({
        prometheus: tools.prometheus,
        target: new URL(serving.url).host,
        job: 'automation-exporter',
        every,
        rules,
        alertmanager: manager.address,
      });
      endings.push(prometheus.stop);
    }
    const at = { begin: 0, end: 0 };
    await minute(calmMinutes);
    const early = notes.all().length;
    at.begin = Date.now();
    for (const trouble of troubles) await trouble.begin(placeOf(places, trouble.server));
    await minute(troubleMinutes);
    at.end = Date.now();
    for (const trouble of troubles) await trouble.end(placeOf(places, trouble.server));
    await minute(minutes - calmMinutes - troubleMinutes);
    const rows = intervals.flatMap((every) => troubles.map((trouble) => toRow(trouble, every, notes.all(), at)));
    const ofHealthy = notes.all().filter(({ server }) => server === healthy);
    const others = notes.all().filter(({ server }) => server === '');
    const late = notes.all().filter(({ startsAtMs }) => startsAtMs > at.end + 60_000);
    return [
      toFigure(`notifications in the ${calmMinutes.toFixed(0)} minutes before`, String(early), '0', early === 0),
      ...rows,
      toFigure('notifications for the healthy server', tellAll(ofHealthy), 'none', ofHealthy.length === 0),
      toFigure('notifications without a server', tellAll(others), 'none', others.length === 0),
      toFigure('alerts that began after the problems were over', tellAll(late), 'none', late.length === 0),
    ];
  } finally {
    for (const end of endings.toReversed()) await end();
    rmSync(directory, { recursive: true, force: true });
  }
}

function placeOf(places: ReadonlyMap<string, Place>, server: string): Place {
  const place = places.get(server);
  if (place === undefined) throw new Error(`there is no server ${server}`);
  return place;
}

function toRow(
  trouble: Trouble,
  every: string,
  notes: readonly Note[],
  at: { readonly begin: number; readonly end: number },
) {
  const { server, alert, consequences = [] } = trouble;
  const own = notes.filter((note) => note.every === every && note.server === server);
  const ofAlert = own.filter((note) => note.alert === alert);
  const fired = ofAlert.find(({ status }) => status === 'firing');
  const resolved = ofAlert.find(({ status }) => status === 'resolved');
  const strange = own.filter((note) => note.alert !== alert && !consequences.includes(note.alert));
  const beside = own.filter((note) => consequences.includes(note.alert));
  const since = (ms: number | undefined, fromMs: number): string =>
    ms === undefined ? 'never' : `${((ms - fromMs) / 60_000).toFixed(1)} min`;
  const texts = [
    `${alert} fires after ${since(fired?.atMs, at.begin)}`,
    `resolves after ${since(resolved?.atMs, at.end)}`,
    `${ofAlert.length} notifications`,
    ...(beside.length > 0 ? [`beside it ${tellAll(beside)}`] : []),
    ...(strange.length > 0 ? [`unexpected: ${tellAll(strange)}`] : []),
  ];
  const reached = fired !== undefined && resolved !== undefined && ofAlert.length === 2 && strange.length === 0;
  return toFigure(
    `${server}, scraped every ${every}`,
    texts.join(', '),
    'fires and resolves once, nothing else',
    reached,
  );
}

function tellAll(notes: readonly Note[]): string {
  return [...new Set(notes.map(({ server, alert }) => `${alert} ${server}`.trim()))].join(', ') || 'none';
}

function toFigure(what: string, figure: string, mustReach: string, reached: boolean) {
  return { what, figure, mustReach, reached };
}

function minute(count: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, count * 60_000);
  });
}
