import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../../simulator/simulator.ts';
import { type Browser, startBrowser } from '../../support/browser.ts';
import { describeWithTools } from '../../support/tools.ts';
import { encode, planned, startMs, traceId } from './some-spans.ts';

// Colours do not change what fits, nor does the width change colours.
const views = [
  { name: 'light', width: 1280, isDark: false, background: 'rgb(255, 255, 255)' },
  { name: 'dark phone', width: 390, isDark: true, background: 'rgb(18, 23, 30)' },
] as const;

const longWord = `${'<script>alert(1)</script>'.repeat(8)}${'x'.repeat(400)}`;
const hostileId = 'ab'.repeat(16);
const toId = (place: number): string => String(place + 1).padStart(16, '0');
const attributes = { 'cicd.pipeline.result': 'success' };
const root = planned({ id: toId(0), parentId: undefined, name: 'RUN pay/nightly/settle', attributes });
const step = planned({ id: toId(1), parentId: root.id, name: 'Build', startMs: startMs + 500, isError: true });
const deep = Array.from({ length: 20 }, (_, depth) =>
  planned({
    id: toId(depth),
    parentId: depth === 0 ? undefined : toId(depth - 1),
    name: longWord,
    attributes: { 'cicd.pipeline.result': longWord },
  }),
);

describeWithTools('simulator/traces, in a browser', ['chromium'], ({ chromium }) => {
  let browser: Browser;
  let simulator: Simulator;

  beforeAll(async () => {
    const executionPage = () => `${simulator.url}/simulator`;
    simulator = await startSimulator({ scenario: 'empty', executionPage });
    const resource = { 'automation.server.name': 'demo', 'cicd.pipeline.run.id': '4711' };
    await post(encode([root, step], { resource }));
    await post(encode(deep, { resource: { [longWord]: longWord, 'cicd.pipeline.run.id': longWord }, id: hostileId }));
    browser = await startBrowser(chromium);
  }, 60_000);

  afterAll(async () => {
    await browser?.stop();
    await simulator?.stop();
  });

  async function post(body: Buffer): Promise<void> {
    const headers = { 'content-type': 'application/x-protobuf' };
    await fetch(`${simulator.url}/v1/traces`, { method: 'POST', headers, body: new Uint8Array(body) });
  }

  const pages = [
    { page: 'the list', path: '', text: 'The last traces' },
    { page: 'a trace', path: `/${traceId}`, text: 'Build' },
    { page: 'long hostile names', path: `/${hostileId}`, text: longWord },
  ];
  it.each(pages.flatMap((page) => views.map((view) => ({ ...page, ...view }))))(
    'shows $page without scrolling sideways: $name',
    async ({ path, text, width, isDark, background }) => {
      const opened = await browser.open(`${simulator.url}/simulator/traces${path}`, { width, isDark });
      expect({ contentWidth: opened.contentWidth, complaints: opened.complaints }).toEqual({
        contentWidth: width,
        complaints: [],
      });
      expect(opened.background).toBe(background);
      expect(opened.text).toContain(text);
    },
  );

  it('leads from the list to every trace, from there to the exporter, and back', async () => {
    const list = `${simulator.url}/simulator/traces`;
    expect((await browser.open(list)).links).toEqual([list, `${list}/${traceId}`, `${list}/${hostileId}`]);
    expect((await browser.open(`${list}/${traceId}`)).links).toEqual([list, `${simulator.url}/simulator`]);
  });
});
