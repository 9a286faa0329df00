import { describe, expect, it } from 'vitest';
import { toEffectiveYaml } from '../../src/config/show/effective-config.ts';
import { toJsonSchema } from '../../src/config/show/json-schema.ts';
import { complain, collectors as everyCollector, load } from './fixtures.ts';

const collectors = [
  ...everyCollector,
  { name: 'counts', every: '5m', on: true, help: 'Counts', projects: 'Patterns of projects that are counted.' },
];

describe('config/collectors', () => {
  it('limits the series of each collector', async () => {
    const { config } = await load({
      yaml: 'collectors: { project-nodes: { max_series: 50000 }, system-info: { max_series: 7 } }',
      argv: ['--collector.system-info.max-series=1'],
    });
    expect(Object.entries(config.collectors).map(([name, { maxSeries }]) => [name, maxSeries])).toEqual([
      ['execution-mode', 10_000],
      ['system-info', 1],
      ['project-nodes', 50_000],
    ]);
  });

  it.each(['0', '-1', '1.5', 'many'])('refuses %s as a limit of series', async (written) => {
    const found = written === 'many' ? 'the text "many"' : `the number ${written}`;
    expect(await complain({ yaml: `collectors: { system-info: { max_series: ${written} } }` })).toEqual([
      `config.yaml:1:42 collectors.system-info.max_series: takes a whole number from 1 to 10000000, found ${found}`,
    ]);
  });

  it('accepts project names only for collectors that need project names', async () => {
    const yaml = 'collectors: { counts: { projects: ["pay-.*"] } }';
    const { config } = await load({ yaml, collectors });
    const { projects } = config.collectors['counts'] ?? {};
    expect(['pay-eu', 'shop'].map((name) => projects?.matches(name))).toEqual([true, false]);
    expect(toEffectiveYaml(config)).toContain('    max_series: 10000\n    projects:\n      - pay-.*\n');
    expect(toJsonSchema(collectors, [])).toHaveProperty(
      'properties.collectors.properties.counts.properties.projects.description',
      'Patterns of projects that are counted.',
    );

    const none = await load({ collectors });
    expect(none.config.collectors['counts']?.projects?.matches('pay-eu')).toBe(false);
    expect(none.config.collectors['system-info']).toEqual({ enabled: true, everyMs: 30_000, maxSeries: 10_000 });
    expect(await complain({ yaml: 'collectors: { system-info: { projects: [] } }' })).toEqual([
      'config.yaml:1:30 collectors.system-info.projects: is not a known key (known here: enabled, every, max_series)',
    ]);
  });
});
