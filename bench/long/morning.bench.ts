import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { findTool } from '../../scripts/tools.ts';
import { nodeFlags } from '../../src/commands/start.ts';
import { type Browser, type Opened, startBrowser } from '../../test/support/browser.ts';
import { type Child, startCli } from '../../test/support/child.ts';
import { freePort } from '../../test/support/listen.ts';
import { type PostgresServer, startPostgres } from '../../test/support/postgres.ts';
import { startAlertmanager, startPrometheus } from '../../test/support/prometheus.ts';
import { troubles as allTroubles, type Trouble } from './morning-troubles.ts';
import { createNotes, type Note, type Place, routesTo, startPlace, token } from './night-scene.ts';
import { sourceCli } from './serving.ts';

/** The minutes from the start of the problems to the first check, and from the first check to the second. */
const firstMinutes = Number(process.env['MORNING_FIRST_MINUTES'] ?? 14);
const laterMinutes = Number(process.env['MORNING_LATER_MINUTES'] ?? 25);
/** The servers that are played; all if absent. */
const named = process.env['MORNING_SERVERS']?.split(',');
const troubles = allTroubles.filter(({ server }) => named?.includes(server) ?? true);

const columns = ['when', 'asked', 'server', 'front page', 'alert', 'page', 'runbook', 'why'];

/** A replica whose name contains dots. */
type Replica = {
  readonly name: string;
  readonly url: string;
  readonly start: () => Promise<void>;
  child: Child | undefined;
};

/**
 * Sixteen servers with one problem each, two replicas on PostgreSQL, a Prometheus, an Alertmanager and a browser. Each
 * problem must be visible at both checks: on the front page, in its alert, on the page of the alert, and in `why` of
 * both replicas.
 */
export async function run() {
  const directory = mkdtempSync(join(tmpdir(), 'automation-exporter-morning-'));
  const endings: (() => Promise<unknown>)[] = [];
  try {
    const places = new Map<string, Place>();
    for (const { server, members, threads = 4, before } of troubles) {
      const place = await startPlace({ threadPoolSize: threads, ...(members === undefined ? {} : { members }) });
      endings.push(() => place.simulator.stop(), ...[place.door, ...place.memberDoors].map(({ close }) => close));
      await before?.(place);
      places.set(server, place);
    }
    const database = await startPostgres(tool('postgresql'));
    endings.push(() => database.stop());
    const replicas: Replica[] = [];
    for (const name of ['mon-a', 'mon-b']) replicas.push(await prepareReplica({ name, directory, database, places }));
    endings.push(...replicas.map((replica) => () => replica.child?.stop() ?? Promise.resolve()));
    for (const replica of replicas) await replica.start();
    const browser = await startBrowser(tool('chromium'), ['--host-resolver-rules=MAP *.corp.example 127.0.0.1']);
    endings.push(browser.stop);
    const notes = createNotes();
    endings.push(notes.stop);
    const manager = await startAlertmanager(tool('alertmanager'), '', routesTo(`${await notes.url()}/morning`));
    endings.push(manager.stop);
    const rules = await (
      await fetch(`http://127.0.0.1:${new URL(replicas[0]?.url ?? '').port}/alerts/rules.yaml`)
    ).text();
    for (const { url } of replicas) {
      const prometheus = await startPrometheus({
        prometheus: tool('prometheus'),
        target: `127.0.0.1:${new URL(url).port}`,
        job: 'automation-exporter',
        every: '10s',
        rules,
        alertmanager: manager.address,
      });
      endings.push(prometheus.stop);
    }
    await setTimeout(150_000);
    for (const { server, begin } of troubles) await begin?.(placeOf(places, server));
    const scene = { replicas, browser, notes: notes.all(), begunAtMs: Date.now() };
    console.log(`${toLine(columns)}\n${toLine(columns.map(() => '---'))}`);
    await setTimeout(firstMinutes * 60_000);
    const rows = await look('soon', scene);
    await setTimeout(laterMinutes * 60_000);
    rows.push(...(await look('later', scene)));
    for (const replica of replicas) {
      await replica.child?.stop();
      await replica.start();
    }
    // The average of busy threads needs a minute.
    await setTimeout(90_000);
    rows.push(...(await look('after a restart', scene)));
    await database.stop();
    await setTimeout(6000);
    for (const { name, url } of replicas) {
      const { text } = await browser.open(`${url}/`);
      const [first = ''] = text.split('\n').filter((line) => /database/i.test(line));
      rows.push(toRow(['database away', name], [{ text: first, isTrue: first !== '' }]));
    }
    return rows;
  } finally {
    for (const end of endings.toReversed()) await end();
    rmSync(directory, { recursive: true, force: true });
  }
}

type Parts = { readonly name: string; readonly directory: string; readonly database: PostgresServer };

async function prepareReplica({
  name,
  directory,
  database,
  places,
}: Parts & { readonly places: ReadonlyMap<string, Place> }): Promise<Replica> {
  const folder = join(directory, name);
  mkdirSync(folder);
  const port = await freePort();
  const url = `http://${name}.corp.example:${String(port)}`;
  writeFileSync(join(folder, 'token'), `${token}\n`, { mode: 0o600 });
  writeFileSync(join(folder, 'password'), `${database.password}\n`, { mode: 0o600 });
  const servers = [...places].map(([server, { door, memberDoors }]) => {
    const members = memberDoors.map((member, index) => `{ name: m${String(index + 1)}, url: '${member.url}' }`);
    const ofCluster = members.length === 0 ? '' : `, members: [${members.join(', ')}]`;
    return `  - { name: ${server}, url: '${door.url}', token_file: ${join(folder, 'token')}${ofCluster} }\n`;
  });
  const config = join(folder, 'config.yaml');
  writeFileSync(
    config,
    `servers:
${servers.join('')}web: { external_url: '${url}/' }
state:
  postgres:
    host: 127.0.0.1
    port: ${String(database.port)}
    database: postgres
    user: postgres
    password_file: ${join(folder, 'password')}
    tls: { disable: true }
`,
  );
  const replica: Replica = {
    name,
    url,
    child: undefined,
    start: async () => {
      const flags = [`--config.file=${config}`, `--web.listen-address=127.0.0.1:${String(port)}`];
      replica.child = startCli(['serve', ...flags], { env: { HOME: folder } });
      await replica.child.waitFor(/url=(http:\S+)/, 60_000);
    },
  };
  return replica;
}

type Scene = {
  readonly replicas: readonly Replica[];
  readonly browser: Browser;
  readonly notes: readonly Note[];
  readonly begunAtMs: number;
};

type Cell = { readonly text: string; readonly isTrue: boolean };

/** Checks the front page, the links of the alert, and `why` through each replica. */
async function look(when: string, scene: Scene) {
  const rows = [];
  for (const replica of scene.replicas) {
    const front = await scene.browser.open(`${replica.url}/`);
    for (const trouble of troubles) {
      const cells = [
        readFront(front, trouble, { asked: replica, replicas: scene.replicas }),
        ...(await readAlert(trouble, scene)),
        await readWhy(replica.url, trouble),
      ];
      rows.push(toRow([when, replica.name, trouble.server], cells));
    }
  }
  return rows;
}

type Among = { readonly asked: Replica; readonly replicas: readonly Replica[] };

/** Reads the line of a server; on the other replica, the line is a link to the replica that watches the server. */
function readFront({ text, links }: Opened, { server, line }: Trouble, { asked, replicas }: Among): Cell {
  const lines = linesOf(text, server);
  const found = lines.find((each) => line?.test(each) ?? false);
  const elsewhere = lines.find((each) => /watched by/i.test(each));
  if (elsewhere !== undefined && found === undefined) {
    const other = replicas.find((replica) => replica !== asked);
    return { text: elsewhere, isTrue: links.some((link) => other !== undefined && link.startsWith(other.url)) };
  }
  if (line !== undefined) return { text: found ?? lines.slice(0, 3).join(' / '), isTrue: found !== undefined };
  const complaint = lines.find((each) => each.includes('✗') || each.startsWith(`"${server}"`));
  return { text: complaint ?? 'silent', isTrue: complaint === undefined };
}

/** Reads the alert, and the pages to which it links. */
async function readAlert({ server, alert, alertMinutes = 0, page }: Trouble, { browser, notes, begunAtMs }: Scene) {
  const none: Cell = { text: '', isTrue: true };
  if (alert === undefined) return [none, none, none];
  const fired = notes.find((note) => note.server === server && note.alert === alert);
  if (fired === undefined) {
    const isDue = Date.now() - begunAtMs >= alertMinutes * 60_000;
    return [{ text: `${isDue ? 'no' : 'not due yet:'} ${alert}`, isTrue: !isDue }, none, none];
  }
  const minutes = ((fired.atMs - begunAtMs) / 60_000).toFixed(1);
  return [
    { text: `${alert} after ${minutes} min`, isTrue: true },
    await openLink(browser, fired.annotations['page_url'] ?? '', page),
    await openLink(browser, fired.annotations['runbook_url'] ?? '', undefined),
  ];
}

async function openLink(browser: Browser, link: string, wanted: RegExp | undefined): Promise<Cell> {
  if (link === '') return { text: 'no link', isTrue: false };
  const { text } = await browser.open(link);
  const isTrue = !/unknown host|not found/i.test(text.slice(0, 300)) && (wanted?.test(text) ?? true);
  const { pathname, search, hash } = new URL(link);
  return { text: `${pathname}${search}${hash}${isTrue ? '' : `: ${text.slice(0, 300)}`}`, isTrue };
}

async function readWhy(url: string, { server, why }: Trouble): Promise<Cell> {
  const says = await askWhy(url, server);
  return { text: says.split('\n')[0] ?? '', isTrue: why.test(says) };
}

/** Returns the lines of a page that name a server. */
function linesOf(text: string, server: string): readonly string[] {
  const name = new RegExp(`(^|[^\\w-])${server}($|[^\\w-])`);
  return text.split('\n').flatMap((line) => (name.test(line) ? [line.trim()] : []));
}

/** Resolves the names of the replicas, as the browser does. */
const resolver = `data:text/javascript,import dns from 'node:dns';
const { lookup } = dns;
dns.lookup = (name, ...rest) => lookup(name.endsWith('.corp.example') ? '127.0.0.1' : name, ...rest);`;

async function askWhy(url: string, server: string): Promise<string> {
  const address = `http://127.0.0.1:${new URL(url).port}`;
  const child = spawn(
    process.execPath,
    [
      ...nodeFlags,
      `--import=${resolver.replaceAll('\n', ' ')}`,
      sourceCli,
      'why',
      server,
      'pay/nightly/settle',
      `--url=${address}`,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let says = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (says += chunk.toString()));
  await new Promise((resolve) => child.once('close', resolve));
  return says;
}

function placeOf(places: ReadonlyMap<string, Place>, server: string): Place {
  const place = places.get(server);
  if (place === undefined) throw new Error(`there is no server ${server}`);
  return place;
}

/** Renders a row of the table. */
function toRow(of: readonly string[], cells: readonly Cell[]) {
  const figures = cells.map(({ text, isTrue }) => `${isTrue ? '' : '**NOT TRUE** '}${toCell(text)}`);
  console.log(toLine([...of, ...figures]));
  const wrong = cells.filter(({ isTrue }) => !isTrue);
  return {
    what: of.join(', '),
    figure: wrong.length === 0 ? 'all true' : wrong.map(({ text }) => toCell(text)).join('; '),
    mustReach: 'every cell is true',
    reached: wrong.length === 0,
  };
}

function toLine(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function toCell(text: string): string {
  return text.slice(0, 300).replaceAll(/\s+/g, ' ').replaceAll('|', '/').trim();
}

function tool(name: 'postgresql' | 'prometheus' | 'alertmanager' | 'chromium'): string {
  const path = findTool(name);
  if (path === undefined) throw new Error(`${name} is not installed`);
  return path;
}
