import { describe, expect, it } from 'vitest';
import { counter, info } from '../../src/metrics/family.ts';
import { renderSegments } from '../../src/metrics/segment.ts';
import { createSegmentJoin, readSegmentBytes, toSegmentBytes } from '../../src/metrics/shared-view.ts';

const runs = counter('automation_executions_total', 'Finished \\ executions.', 'project');
const about = info('automation_info', 'About.', 'release');

describe('metrics/shared-view', () => {
  it('shows on another replica what was shown here, with exemplars where the format has them', async () => {
    const exemplar = { traceId: 'aa', spanId: 'bb', value: 2, atMs: 1000 };
    const rows = [
      ...runs.rows(5, { project: 'größe "1"' }).map((row) => ({ ...row, exemplar })),
      ...about.rows({ release: '5' }),
    ];
    const segments = await renderSegments(rows, [['server', 'prod']], { nextTurn: async () => undefined });
    const read = await Promise.all(segments.map(async (segment) => readSegmentBytes(await toSegmentBytes(segment))));
    const joinSegments = createSegmentJoin();
    const show = (format: 'text' | 'openmetrics') => Buffer.concat(joinSegments(read, format).text).toString();

    expect(show('text')).toBe(`# HELP automation_executions_total Finished \\\\ executions.
# TYPE automation_executions_total counter
automation_executions_total{server="prod",project="größe \\"1\\""} 5
# HELP automation_info About.
# TYPE automation_info gauge
automation_info{server="prod",release="5"} 1
`);
    expect(show('openmetrics')).toBe(`# HELP automation_executions Finished \\\\ executions.
# TYPE automation_executions counter
automation_executions_total{server="prod",project="größe \\"1\\""} 5 # {trace_id="aa",span_id="bb"} 2 1
# HELP automation About.
# TYPE automation info
automation_info{server="prod",release="5"} 1
# EOF
`);
  });

  it('deflates the header of a family once, and shows its help as it is now', async () => {
    const joinSegments = createSegmentJoin();
    const segments = await renderSegments(runs.rows(5, { project: 'pay' }), [], { nextTurn: async () => undefined });
    const first = joinSegments(segments, 'text');
    const [header] = first.deflated;
    expect(joinSegments(segments, 'text').deflated[0]).toBe(header);
    expect(joinSegments(segments, 'openmetrics').deflated[0]).not.toBe(header);
    for (let turn = 0; turn < 3000; turn += 1) {
      const renamed = segments.map((segment) => ({ ...segment, family: { ...segment.family, help: `Help ${turn}.` } }));
      expect(joinSegments(renamed, 'text').text[0]?.toString()).toContain(`Help ${turn}.`);
    }
    expect(Buffer.concat(joinSegments(segments, 'text').text)).toEqual(Buffer.concat(first.text));
  });
});
