import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildPackage } from '../../scripts/build/package.ts';
import { findTool } from '../../scripts/tools.ts';
import { startSimulator } from '../../simulator/simulator.ts';
import { type ImageStore, openImageStore } from '../../test/support/image-store.ts';
import {
  type Installation,
  installArchive,
  installDebianPackage,
  installImage,
} from '../../test/support/installations.ts';
import { readCpuMs, readMemoryMb, sourceCli } from './serving.ts';

const rounds = 5;

type Started = { readonly ms: number; readonly cpuMs: number; readonly rssMb: number; readonly anonymousMb: number };

/** A way to start the exporter. */
type Way = {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly started: Started[];
};

/** Measures the time to the first scrape with data, and the memory, for each package and the sources. */
export async function run() {
  const buildah = findTool('buildah');
  if (buildah === undefined || process.getuid?.() !== 0) throw new Error('this benchmark needs root and buildah');
  const directory = mkdtempSync(join(tmpdir(), 'automation-exporter-bench-packages-'));
  const simulator = await startSimulator();
  const store = await openImageStore(buildah);
  const watch = { AUTOMATION_EXPORTER_URL: simulator.url, AUTOMATION_EXPORTER_TOKEN: simulator.token };
  try {
    const ways = await installEachWay(store, directory);
    // The kinds of installation take turns, so that other work affects all equally. The first round fills compile caches.
    for (let round = 0; round <= rounds; round += 1) {
      for (const way of ways) {
        const started = await timeOneStart(way, watch);
        if (round > 0) way.started.push(started);
      }
    }
    return ways.map(({ name, started }) => report(name, toMedians(started), toMedians(ways[0]?.started ?? [])));
  } finally {
    await store.close();
    await simulator.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function installEachWay(store: ImageStore, directory: string): Promise<readonly Way[]> {
  const bundle = join(directory, 'bundle');
  await buildPackage(bundle);
  const env = { PATH: process.env['PATH'] ?? '', HOME: directory };
  const here = (name: string, cli: string): Way => ({ name, command: [process.execPath, cli], env, started: [] });
  return [
    here('sources', sourceCli),
    here('bundle', join(bundle, 'cli.js')),
    await inItsRoot(store, 'npm archive', await installArchive(store, directory)),
    await inItsRoot(store, 'Debian package', await installDebianPackage(store, directory)),
    await inItsRoot(store, 'image', await installImage(store)),
  ];
}

/** Runs a command in the root of an image with its variables and user, without the time to start a container. */
async function inItsRoot(store: ImageStore, name: string, { image, command, user }: Installation): Promise<Way> {
  const root = await store.mount(image);
  // The cast has only the used fields of Docker's format.
  const config = (await store.inspect(image)) as { readonly Env?: string[]; readonly WorkingDir?: string };
  const env = Object.fromEntries(
    (config.Env ?? []).map((line) => [line.replace(/=.*/s, ''), line.replace(/^.*?=/, '')]),
  );
  mkdirSync(join(root, 'proc'), { recursive: true });
  const script = join(root, '..', `start-${image}.sh`);
  // Only this process sees these mounts.
  writeFileSync(
    script,
    `/bin/mount --bind /proc '${root}/proc' && exec /usr/sbin/chroot --userspec=${user} '${root}' "$@"\n`,
  );
  const [program = '', ...before] = command.map((word) => (word === 'cli.js' ? '/app/cli.js' : word));
  return {
    name,
    command: ['/usr/bin/unshare', '--mount', '/bin/sh', script, program, ...before],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/tmp', ...env },
    started: [],
  };
}

async function timeOneStart({ command: [program, ...before], env }: Way, watch: Way['env']): Promise<Started> {
  const flags = ['serve', '--state.memory', '--web.listen-address=127.0.0.1:0'];
  const startedAtMs = performance.now();
  const daemon = spawn(program, [...before, ...flags], {
    env: { ...env, ...watch },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise((resolve) => daemon.once('close', resolve));
  let log = '';
  daemon.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  try {
    for (let attempt = 0; attempt < 6000 && daemon.exitCode === null; attempt += 1) {
      const url = /url=(http:\S+)/.exec(log)?.[1];
      const text = url === undefined ? '' : await (await fetch(`${url}/metrics`)).text();
      if (text.includes('automation_server_info{')) {
        const ms = performance.now() - startedAtMs;
        const pid = daemon.pid ?? 0;
        return {
          ms,
          cpuMs: readCpuMs(pid),
          rssMb: readMemoryMb(pid, 'VmRSS'),
          anonymousMb: readMemoryMb(pid, 'RssAnon'),
        };
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error(`no data:\n${log}`);
  } finally {
    daemon.kill('SIGTERM');
    await ended;
  }
}

function report(name: string, { ms, cpuMs, rssMb, anonymousMb }: Started, sources: Started) {
  const ratios = [ms / sources.ms, cpuMs / sources.cpuMs, rssMb / sources.rssMb].map((ratio) => ratio.toFixed(2));
  return {
    what: `${name}: start to first scrape with data, CPU time until then, resident and anonymous memory; medians of ${rounds}`,
    figure: `${ms.toFixed(0)} ms, ${cpuMs.toFixed(0)} ms, ${rssMb.toFixed(0)} MB, ${anonymousMb.toFixed(0)} MB; ${ratios.join(', ')} of the sources`,
    mustReach: name === 'sources' ? 'for comparison with the others' : 'less CPU time and memory than the sources',
    reached: name === 'sources' || (cpuMs < sources.cpuMs && rssMb < sources.rssMb),
  };
}

function toMedians(started: readonly Started[]): Started {
  const median = (pick: (one: Started) => number): number => {
    const sorted = started.map(pick).sort((one, other) => one - other);
    return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  };
  return {
    ms: median(({ ms }) => ms),
    cpuMs: median(({ cpuMs }) => cpuMs),
    rssMb: median(({ rssMb }) => rssMb),
    anonymousMb: median((one) => one.anonymousMb),
  };
}
