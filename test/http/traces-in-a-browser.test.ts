import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { frontPageRoute } from '../../src/http/pages/front/front-page.ts';
import { tracesPageRoute } from '../../src/http/pages/traces/traces-page.ts';
import { quarantineRoutes } from '../../src/http/routes/quarantine.ts';
import { createHttpServer, type HttpServer } from '../../src/http/server/server.ts';
import type { QuarantineStatus, Status, TracesStatus } from '../../src/status/status.ts';
import { type Browser, startBrowser } from '../support/browser.ts';
import { describeWithTools } from '../support/tools.ts';
import { quarantine, server, status, stuckTraces, traces } from './some-status.ts';

// Colours are independent of the width.
const views = [
  { name: 'light', width: 1280, isDark: false, background: 'rgb(255, 255, 255)' },
  { name: 'dark phone', width: 390, isDark: true, background: 'rgb(18, 23, 30)' },
] as const;

const longWord = `${'<script>alert(1)</script>'.repeat(8)}${'x'.repeat(400)}`;
const hostile = quarantine({
  server: longWord,
  reason: longWord,
  size: 2 ** 31,
  spans: 5000,
  executionId: '9007199254740991',
});
const twenty = Array.from({ length: 20 }, (_, index) => quarantine({ executionId: String(4711 + index) }));
const shown: Readonly<Record<string, TracesStatus | undefined>> = {
  'that all is delivered': traces(),
  'that nothing is': stuckTraces(),
  'that none are made': traces({ delivery: undefined, waiting: 3 }),
  'that the state can not tell': undefined,
};

describeWithTools('http/traces-page, in a browser', ['chromium'], ({ chromium }) => {
  let browser: Browser;
  let httpServer: HttpServer;
  let url: string;
  let isEnabled = true;
  let current: TracesStatus | undefined;
  let refused: readonly QuarantineStatus[] = [];
  const done: string[] = [];

  beforeAll(async () => {
    const read = async (): Promise<Status> => ({ ...status(server('prod')), traces: current });
    const act = (action: string) => async (which: readonly string[] | 'all') => {
      const names = which === 'all' ? refused.map(({ name }) => name) : which;
      done.push(`${action} ${which === 'all' ? which : which.join(' ')}`);
      refused = refused.filter(({ name }) => !names.includes(name));
      return { traces: names.length };
    };
    const quarantined = { list: async () => refused, retry: act('retry'), drop: act('drop') };
    // The proxy has another name than the exporter.
    const lifecycle = { isEnabled: () => isEnabled, externalUrl: () => 'https://exporter.example.org' };
    const hasPage = (): boolean => false;
    const routes = [
      frontPageRoute({ metricsPath: '/metrics', status: read }),
      tracesPageRoute({ elsewhere: () => [], status: read, quarantined: () => quarantined, hasPage, lifecycle }),
      quarantineRoutes({ quarantined: () => quarantined, lifecycle, elsewhere: () => [] }),
    ];
    const onError = (error: unknown): never => {
      throw error;
    };
    httpServer = createHttpServer({ host: '127.0.0.1', port: 0, routePrefix: '/here/too', routes, onError });
    url = `http://127.0.0.1:${await httpServer.listen()}/here/too`;
    browser = await startBrowser(chromium);
  }, 60_000);

  afterAll(async () => {
    await browser?.stop();
    await httpServer?.close();
  });

  beforeEach(() => {
    isEnabled = true;
    current = traces({ quarantine: 2, quarantinedBytes: 6800 });
    refused = twenty;
    done.length = 0;
  });

  for (const [name, told] of Object.entries(shown)) {
    it.each(views)(`shows ${name} without scrolling sideways: $name`, async ({ width, isDark, background }) => {
      current = told;
      refused = [];
      const opened = await browser.open(`${url}/traces`, { width, isDark });
      const { contentWidth, complaints } = opened;
      expect({ contentWidth, complaints, background: opened.background }).toEqual({
        contentWidth: width,
        complaints: [],
        background,
      });
    });
  }

  for (const mayChange of [true, false]) {
    it.each(views)(
      `fits the quarantine on the screen, with buttons (${mayChange}): $name`,
      async ({ width, isDark }) => {
        isEnabled = mayChange;
        refused = [hostile, ...twenty];
        const { contentWidth, complaints, text } = await browser.open(`${url}/traces`, { width, isDark });
        expect({ contentWidth, complaints }).toEqual({ contentWidth: width, complaints: [] });
        expect(text.includes('Send all again')).toBe(mayChange);
        expect(text).toContain('From the command line');
      },
    );
  }

  it('retries one trace when its button is pressed', async () => {
    const press = ['button[value="prod/4712"]'];
    const { text, complaints } = await browser.open(`${url}/traces`, { width: 390, press });
    expect({ done, complaints }).toEqual({ done: ['retry prod/4712'], complaints: [] });
    expect(text).toContain('#4711');
    expect(text).not.toContain('#4712');
  });

  it('drops traces permanently in two steps', async () => {
    expect((await browser.open(`${url}/traces`)).text).not.toContain('Drop for good');
    const drop = '[formaction$="drop"][value="prod/4711"]';
    const opened = await browser.open(`${url}/traces`, { press: [`details:has(${drop}) summary`, drop] });
    expect({ done, complaints: opened.complaints }).toEqual({ done: ['drop prod/4711'], complaints: [] });
    expect(opened.text).not.toContain('#4711');
  });

  it('retries all traces', async () => {
    const { text } = await browser.open(`${url}/traces`, { press: ['button[name="all"]'] });
    expect(done).toEqual(['retry all']);
    expect(text).not.toContain('Send all again');
  });

  it('links the page of traces on the front page', async () => {
    const { links, text } = await browser.open(`${url}/`);
    expect(text).toContain('✗ 2 quarantined');
    expect(links).toContain(`${url}/traces`);
  });
});
