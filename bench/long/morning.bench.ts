import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { findTool } from '../../scripts/tools.ts';
import { nodeFlags } from '../../src/commands/process-settings.ts';
import { type Browser, startBrowser } from '../../test/support/browser.ts';
import { type Child, startCli } from '../../test/support/child.ts';
import { freePort, type PostgresServer, startPostgres } from '../../test/support/postgres.ts';
import { startAlertmanager, startPrometheus } from '../../test/support/prometheus.ts';
import { troubles } from './morning-troubles.ts';
import { createNotes, type Note, type Place, routesTo, startPlace, token } from './night-scene.ts';
import { sourceCli } from './serving.ts';

/** The minutes from the troubles to the first look, and from that to the second. */
const firstMinutes = Number(process.env['MORNING_FIRST_MINUTES'] ?? 14);
const laterMinutes = Number(process.env['MORNING_LATER_MINUTES'] ?? 25);

/** A replica, under a name with dots of its own. */
type Replica = {
  readonly name: string;
  readonly url: string;
  readonly start: () => Promise<void>;
  child: Child | undefined;
};

/**
 * The morning after: 16 servers with one trouble each, watched by two replicas on PostgreSQL, with a Prometheus, an Alertmanager
 * and a browser. Whatever replica is asked, the front page, the alert, the page that it leads to and `why` have to tell the
 * trouble: soon, much later, after a restart, and while the database is away.
 */
export async function run() {
  const directory = mkdtempSync(join(tmpdir(), 'automation-exporter-morning-'));
  const endings: (() => Promise<unknown>)[] = [];
  try {
    const places = new Map<string, Place>();
    for (const { server, members, before } of troubles) {
      const place = await startPlace(members === undefined ? {} : { members });
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
    await setTimeout(firstMinutes * 60_000);
    const rows = await look('soon', { replicas, browser, notes: notes.all() });
    await setTimeout(laterMinutes * 60_000);
    rows.push(...(await look('later', { replicas, browser, notes: notes.all() })));
    for (const replica of replicas) {
      await replica.child?.stop();
      await replica.start();
    }
    await setTimeout(60_000);
    rows.push(...(await look('after a restart', { replicas, browser, notes: notes.all() })));
    await database.stop();
    await setTimeout(6000);
    for (const { name, url } of replicas) {
      const { text } = await browser.open(`${url}/`);
      const [first = ''] = text.split('\n').filter((line) => /database/i.test(line));
      rows.push(toRow(`database away, ${name}`, [first === '' ? 'NO LINE' : first], first !== ''));
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

type Scene = { readonly replicas: readonly Replica[]; readonly browser: Browser; readonly notes: readonly Note[] };

/** Looks at everything through each replica: the front page, the link of the alert opened there, and `why`. */
async function look(when: string, { replicas, browser, notes }: Scene) {
  const rows = [];
  for (const { name, url } of replicas) {
    const front = await browser.open(`${url}/`);
    for (const trouble of troubles) {
      const cells: string[] = [];
      let isRight = true;
      const note = (cell: string, right: boolean): void => {
        cells.push(`${right ? '' : 'WRONG '}${cell}`);
        isRight &&= right;
      };
      const lines = linesOf(front.text, trouble.server);
      const line = lines.find((each) => trouble.line?.test(each) ?? false);
      const elsewhere = lines.find((each) => /watched by/i.test(each));
      const owner = replicas.find((replica) => replica.name !== name);
      if (elsewhere !== undefined && line === undefined) {
        const leads = front.links.some((link) => owner !== undefined && link.startsWith(owner.url));
        note(`front: ${elsewhere.slice(0, 100)}${leads ? '' : ' (no link there)'}`, leads);
      } else if (trouble.line === undefined) {
        note('front: silent', !lines.some((each) => each.includes('✗') || each.startsWith(`"${trouble.server}"`)));
      } else {
        note(`front: ${line?.slice(0, 160) ?? lines.slice(0, 3).join(' / ').slice(0, 200)}`, line !== undefined);
      }
      const fired = notes.find(({ server, alert }) => server === trouble.server && alert === trouble.alert);
      if (trouble.alert !== undefined) {
        note(trouble.alert, fired !== undefined);
        const page = fired?.annotations['page_url'] ?? '';
        const runbook = fired?.annotations['runbook_url'] ?? '';
        for (const [link, wanted] of [[page, trouble.page] as const, [runbook, undefined] as const]) {
          const { text, isRight: isOpen } = await openLink(browser, link, wanted);
          note(text, isOpen);
        }
      }
      const says = await askWhy(url, trouble.server);
      note(`why: ${says.split('\n')[0]?.slice(0, 160) ?? ''}`, trouble.why.test(says));
      rows.push(toRow(`${when}, ${name}: ${trouble.server}`, cells, isRight));
    }
  }
  return rows;
}

async function openLink(browser: Browser, link: string, wanted: RegExp | undefined) {
  if (link === '') return { text: 'no link', isRight: false };
  const { text } = await browser.open(link);
  const isRight = !/unknown host|not found/i.test(text.slice(0, 300)) && (wanted?.test(text) ?? true);
  return {
    text: `${new URL(link).pathname}${isRight ? '' : `: ${text.slice(0, 150).replaceAll('\n', ' ')}`}`,
    isRight,
  };
}

/** The lines of a page that name a server. */
function linesOf(text: string, server: string): readonly string[] {
  const name = new RegExp(`(^|[^\\w-])${server}($|[^\\w-])`);
  return text.split('\n').flatMap((line) => (name.test(line) ? [line.trim()] : []));
}

async function askWhy(url: string, server: string): Promise<string> {
  const address = `http://127.0.0.1:${new URL(url).port}`;
  const child = spawn(
    process.execPath,
    [...nodeFlags, sourceCli, 'why', server, 'pay/nightly/settle', `--url=${address}`],
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

function toRow(what: string, cells: readonly string[], reached: boolean) {
  return { what, figure: cells.join(' | '), mustReach: 'every cell is true', reached };
}

function tool(name: 'postgresql' | 'prometheus' | 'alertmanager' | 'chromium'): string {
  const path = findTool(name);
  if (path === undefined) throw new Error(`${name} is not installed`);
  return path;
}
