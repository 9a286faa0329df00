import { describe, expect, it } from 'vitest';
import { complain, load } from './fixtures.ts';

describe('config/value-type', () => {
  it.each([
    ['traces: { enabled: off }', 'off', 'link'],
    ['traces: { enabled: on }', 'on', 'link'],
    // Programs that know only YAML 1.1 read `off` and `on` as false and true.
    ['traces: { enabled: false }', 'off', 'link'],
    ['traces: { enabled: true }', 'on', 'link'],
    ['traces: { upstream: { mode: false } }', 'auto', 'off'],
  ])('accepts %s', async (file, enabled, mode) => {
    const { config } = await load({ yaml: file });
    expect([config.traces.enabled, config.traces.upstream.mode]).toEqual([enabled, mode]);
  });

  it('accepts true and false from the environment for on and off', async () => {
    const { config } = await load({ env: { AUTOMATION_EXPORTER_TRACES_ENABLED: 'false' } });
    expect(config.traces.enabled).toBe('off');
  });

  it('accepts true and false only in place of on and off', async () => {
    expect(
      await complain({ yaml: 'traces: { upstream: { mode: true }, detail: false }\nlog: { level: false }' }),
    ).toEqual([
      expect.stringContaining('takes one of parent, link, off, found true'),
      expect.stringContaining('takes one of root, steps, nodes, found false'),
      expect.stringContaining('takes one of debug, info, warn, error, found false'),
    ]);
  });
});
