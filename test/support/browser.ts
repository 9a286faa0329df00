import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChild } from './child.ts';
import { openDevtools, type Tab } from './devtools.ts';

export type Browser = Awaited<ReturnType<typeof startBrowser>>;

type View = {
  readonly width?: number;
  readonly isDark?: boolean;
  /** Selectors of elements that are pressed one after the other; the last press opens the page. */
  readonly press?: readonly string[];
};

/** A page as a person sees it; its own scripts do not run. */
export type Opened = {
  readonly contentHeight: number;
  /** The width of the content; content wider than the window needs sideways scrolling. */
  readonly contentWidth: number;
  /** The messages of the console. */
  readonly complaints: readonly string[];
  /** All addresses in the page, as absolute URLs. */
  readonly links: readonly string[];
  readonly text: string;
  /** The background colour in the notation of CSS. */
  readonly background: string;
};

const flags = [
  '--headless=new',
  '--remote-debugging-port=0',
  // Tests run as root in containers, where Chromium has no sandbox.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--no-first-run',
  '--hide-scrollbars',
];

/** A real Chromium without a window, with additional flags. */
export async function startBrowser(chromium: string, more: readonly string[] = []) {
  const profile = mkdtempSync(join(tmpdir(), 'automation-exporter-browser-'));
  const child = startChild(chromium, [...flags, ...more, `--user-data-dir=${profile}`, 'about:blank'], {
    env: { HOME: profile },
  });
  async function stop(): Promise<void> {
    await child.stop();
    // The last writes of the browser may still be in progress.
    rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
  try {
    const [, address = ''] = await child.waitFor(/^DevTools listening on (ws:\S+)$/m);
    const devtools = await openDevtools(address);
    return {
      open: (url: string, view: View = {}) => devtools.withTab((tab) => look(tab, url, view)),
      /** Accessibility problems that axe finds on a page, in light and dark colours. */
      findBarriers: (url: string) => devtools.withTab((tab) => findBarriers(tab, url)),
      /** The texts of the first stops of the Tab key. */
      listStops: (url: string, count: number) => devtools.withTab((tab) => listStops(tab, url, count)),
      stop: async () => {
        devtools.close();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const question = `JSON.stringify({
  contentWidth: document.scrollingElement.scrollWidth,
  contentHeight: document.scrollingElement.scrollHeight,
  links: [...document.querySelectorAll('a[href]')].map((link) => link.href),
  text: document.body.innerText,
  background: getComputedStyle(document.body).backgroundColor,
})`;

async function look(tab: Tab, url: string, { width = 1280, isDark = false, press = [] }: View): Promise<Opened> {
  const complaints: string[] = [];
  tab.on('Log.entryAdded', ({ entry }) => complaints.push(JSON.stringify(entry)));
  tab.on('Runtime.exceptionThrown', (thrown) => complaints.push(JSON.stringify(thrown)));
  for (const domain of ['Page', 'Log', 'Runtime']) await tab.send(`${domain}.enable`);
  await tab.send('Emulation.setScriptExecutionDisabled', { value: true });
  await tab.send('Emulation.setDeviceMetricsOverride', {
    width,
    height: 900,
    deviceScaleFactor: 1,
    mobile: width < 600,
  });
  await emulateScheme(tab, isDark);
  const loaded = tab.next('Page.loadEventFired');
  await tab.send('Page.navigate', { url });
  await loaded;
  if (press.length > 0) {
    const next = tab.next('Page.loadEventFired');
    for (const selector of press) {
      const expression = `document.querySelector(${JSON.stringify(selector)}).click()`;
      const { exceptionDetails } = await tab.send('Runtime.evaluate', { expression });
      if (exceptionDetails !== undefined) throw new Error(`nothing to press: ${selector}`);
    }
    await next;
  }
  const { result } = await tab.send('Runtime.evaluate', { expression: question });
  // This cast is safe: the expression above returns these fields.
  const seen = JSON.parse((result as { readonly value: string }).value) as Omit<Opened, 'complaints'>;
  return { ...seen, complaints };
}

async function findBarriers(tab: Tab, url: string): Promise<readonly string[]> {
  await look(tab, url, {});
  // Scripts are enabled late, because the page must work without scripts.
  await tab.send('Emulation.setScriptExecutionDisabled', { value: false });
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  await tab.send('Runtime.evaluate', { expression: `${axe};0` });
  const light = await runAxe(tab, {});
  await emulateScheme(tab, true);
  // Dark mode differs only in colours.
  const dark = await runAxe(tab, { runOnly: ['color-contrast', 'link-in-text-block'] });
  return [...light, ...dark.map((barrier) => `dark: ${barrier}`)];
}

async function runAxe(tab: Tab, rules: { readonly runOnly?: readonly string[] }): Promise<readonly string[]> {
  const options = { ...rules, resultTypes: ['violations'] };
  const expression = `axe.run(${JSON.stringify(options)}).then(({ violations }) => JSON.stringify(violations.map(({ id, nodes }) => id + ': ' + nodes[0].html)))`;
  const { result, exceptionDetails } = await tab.send('Runtime.evaluate', { expression, awaitPromise: true });
  if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
  // This cast is safe: the expression above returns this type.
  return JSON.parse((result as { readonly value: string }).value) as string[];
}

async function emulateScheme(tab: Tab, isDark: boolean): Promise<void> {
  const features = [{ name: 'prefers-color-scheme', value: isDark ? 'dark' : 'light' }];
  await tab.send('Emulation.setEmulatedMedia', { features });
}

async function listStops(tab: Tab, url: string, count: number): Promise<readonly string[]> {
  await look(tab, url, {});
  const stops: string[] = [];
  for (let stop = 0; stop < count; stop += 1) {
    for (const type of ['rawKeyDown', 'keyUp']) {
      await tab.send('Input.dispatchKeyEvent', { type, key: 'Tab', code: 'Tab', windowsVirtualKeyCode: 9 });
    }
    const { result } = await tab.send('Runtime.evaluate', { expression: 'document.activeElement.innerText' });
    stops.push((result as { readonly value: string }).value);
  }
  return stops;
}
