import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

/**
 * Makes the pictures of `docs/images` from the demo: `npm exec -c 'node scripts/pictures.ts'`. With a folder as
 * argument: pictures of all pages, in light and dark colours and on a phone. Needs Chromium.
 */
const top = join(import.meta.dirname, '..');
const [, , folder] = process.argv;
const images = folder === undefined ? join(top, 'docs', 'images') : resolve(folder);
const all = [
  { name: 'front', path: '/', height: 800 },
  { name: 'job', path: '/jobs/demo/payments/bank/statements', height: 860 },
  { name: 'slow', path: '/jobs/demo/warehouse/orders/import', height: 1000 },
  { name: 'tonight', path: '/tonight', height: 800 },
  { name: 'execution', path: /href="([^"]*executions\/demo\/\d+)"/, height: 900 },
  { name: 'schedule', path: '/schedule/demo', height: 900 },
] as const;
const pages = folder === undefined ? all.slice(0, 4) : all;
const light = { suffix: '', width: 1200, scheme: 1 };
const views =
  folder === undefined
    ? [light]
    : [light, { suffix: '-dark', width: 1200, scheme: 0 }, { suffix: '-phone', width: 500, scheme: 1 }];

mkdirSync(images, { recursive: true });
const flags = ['demo', '--state.memory', '--port=0', '--web.listen-address=127.0.0.1:0'];
const demo = spawn(process.execPath, [join(top, 'src', 'cli.ts'), ...flags], { stdio: ['ignore', 'ignore', 'pipe'] });
let log = '';
demo.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
try {
  const url = await waitFor(() => /msg=serving url=(http:\S+)/.exec(log)?.[1]);
  await waitFor(async () => ((await read(`${url}/api/status`)).includes('"missed"') ? true : undefined));
  for (const { name, path, height } of pages) {
    const found = typeof path === 'string' ? path : path.exec(await read(`${url}/executions?result=failed`))?.[1];
    if (found === undefined) throw new Error(`there is no page for ${name}`);
    const address = new URL(found.replace(/^(\.\.\/|\.\/)*/, '/').replace(/^\/\//, '/'), url).href;
    for (const { suffix, width, scheme } of views) {
      const file = join(images, `${name}${suffix}.png`);
      execFileSync('chromium', [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--hide-scrollbars',
        `--blink-settings=preferredColorScheme=${scheme}`,
        `--window-size=${width},${width < 600 ? 2 * height : height}`,
        `--screenshot=${file}`,
        address,
      ]);
      console.log(`${file} ${address}`);
    }
  }
} finally {
  demo.kill('SIGTERM');
}

async function read(url: string): Promise<string> {
  return (await fetch(url, { headers: { accept: 'text/html' } })).text();
}

async function waitFor<Answer>(find: () => Answer | undefined | Promise<Answer | undefined>): Promise<Answer> {
  for (let tries = 0; tries < 600; tries += 1) {
    const found = await find();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error(`the expected output did not appear:\n${log}`);
}
