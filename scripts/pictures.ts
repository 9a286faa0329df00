import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** Makes the pictures of `docs/images` from the demo: `npm exec -c 'node scripts/pictures.ts'`. Needs Chromium. */
const top = join(import.meta.dirname, '..');
const images = join(top, 'docs', 'images');
const pages = [
  { name: 'front', path: '/', size: [1200, 1000] },
  { name: 'schedule', path: '/schedule/demo', size: [1200, 900] },
  { name: 'execution', path: /href="([^"]*executions\/demo\/\d+)"/, size: [1200, 900] },
] as const;

mkdirSync(images, { recursive: true });
const flags = ['demo', '--scenario=failing-night', '--state.memory', '--port=0', '--web.listen-address=127.0.0.1:0'];
const demo = spawn(process.execPath, [join(top, 'src', 'cli.ts'), ...flags], { stdio: ['ignore', 'ignore', 'pipe'] });
let log = '';
demo.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
try {
  const url = await waitFor(() => /msg=serving url=(http:\S+)/.exec(log)?.[1]);
  // The history of the simulated server is counted, and its traces are sent.
  await waitFor(async () => ((await read(`${url}/api/status`)).includes('"waiting"') ? undefined : url));
  await new Promise((resolve) => setTimeout(resolve, 30_000));
  for (const { name, path, size } of pages) {
    const found = typeof path === 'string' ? path : path.exec(await read(`${url}/executions?result=failed`))?.[1];
    if (found === undefined) throw new Error(`there is no page for ${name}`);
    const address = new URL(found.replace(/^(\.\.\/|\.\/)*/, '/').replace(/^\/\//, '/'), url).href;
    const file = join(images, `${name}.png`);
    execFileSync('chromium', [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--hide-scrollbars',
      `--window-size=${size.join(',')}`,
      `--screenshot=${file}`,
      address,
    ]);
    console.log(`${file} ${address}`);
  }
} finally {
  demo.kill('SIGTERM');
}

async function read(url: string): Promise<string> {
  return (await fetch(url, { headers: { accept: 'text/html' } })).text();
}

async function waitFor<Answer>(find: () => Answer | undefined | Promise<Answer | undefined>): Promise<Answer> {
  for (let tries = 0; tries < 1200; tries += 1) {
    const found = await find();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`it did not come:\n${log}`);
}
