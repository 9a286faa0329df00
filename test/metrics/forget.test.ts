import { describe, expect, it } from 'vitest';
import { forgetSeries, renderExposition } from '../../src/metrics/exposition.ts';
import { createSelf } from '../../src/metrics/self.ts';
import { createSnapshots } from '../../src/metrics/snapshot.ts';
import { fakeClock } from '../support/fake-clock.ts';

describe('metrics/forget', () => {
  it('removes the series of a server that is no longer watched, with whole histograms, and no others', async () => {
    const self = createSelf({ version: '1', nodeVersion: '2' });
    for (const server of ['gone', 'prod']) {
      self.up.set({ server }, 1);
      self.apiDuration.observe({ server, api_endpoint: 'projects' }, 1);
    }
    await forgetSeries(self.registry, ({ server }) => server === 'gone');

    const text = await renderExposition(createSnapshots(fakeClock({ ticks: () => 0 })), self.registry, 'text');
    const lines = text.split('\n').filter((line) => /(gone|prod)"/.test(line) && !line.includes('_bucket'));
    expect(lines).toEqual([
      'automation_exporter_api_request_duration_seconds_sum{server="prod",api_endpoint="projects"} 1',
      'automation_exporter_api_request_duration_seconds_count{server="prod",api_endpoint="projects"} 1',
      'automation_up{server="prod"} 1',
    ]);
    expect(text).not.toContain('"gone"');
    expect(text).toContain('_bucket{server="prod",api_endpoint="projects",le="+Inf"} 1');
  });
});
