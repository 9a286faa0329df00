import { describe, expect, it } from 'vitest';
import { runbookRoutes } from '../../src/http/routes/runbooks.ts';
import { readContent } from '../../src/http/server/content.ts';
import { toText } from './page-text.ts';
import { serve } from './serve.ts';

const address = { externalUrl: () => undefined, ownUrl: () => 'http://localhost:9720/here/' };

describe('http/routes/runbooks', () => {
  it('lists every runbook once, by severity', async () => {
    const content = readContent();
    const { ask } = await serve([runbookRoutes(content, address)]);
    const lines = toText((await ask('/runbooks/')).body).split('\n');
    expect(lines[0]).toBe('Runbooks');
    const headings = lines.filter((line) => ['Critical', 'Warning', 'Info'].includes(line));
    expect(headings.slice(0, 2)).toEqual(['Critical', 'Warning']);
    const critical = lines.slice(2, lines.indexOf('Warning'));
    expect(critical.some((line) => line.startsWith('AutomationServiceDown'))).toBe(true);
    expect(lines).toHaveLength(content.runbooks.size + 1 + headings.length);
    expect(lines.filter((line) => line.startsWith('Automation') && !/[a-z].*\.$/.test(line))).toEqual([]);
    expect(lines).toContain(
      'AutomationServiceDownThe exporter has had no usable response from the server for two minutes.',
    );
  });

  it.each([
    ['AutomationServiceDown', '../">the front page'],
    ['AutomationScheduleMissed', '../schedule">'],
    ['AutomationRunsAtRisk', '../tonight">'],
    ['AutomationErrorBudgetBurnFast', '../executions?result=failures">'],
    ['AutomationJobFailingRepeatedly', '../jobs?state=failed">'],
    ['AutomationJobDisabledTooLong', '../jobs?state=off">'],
    ['AutomationExporterTracesNotDelivered', '../traces">'],
  ])('links %s to the page with the cause', async (alert, link) => {
    const { ask } = await serve([runbookRoutes(readContent(), address)]);
    expect((await ask(`/runbooks/${alert}`)).body).toContain(`shows the problem on <a href="${link}`);
  });

  it('prints commands with the URL of the exporter', async () => {
    const { ask } = await serve([runbookRoutes(readContent(), address)]);
    expect((await ask('/runbooks/AutomationExporterDown', { headers: { host: 'exporter:9720' } })).body).toContain(
      ' http://exporter:9720/here/-/healthy\n',
    );
  });

  it('uses the severities of the rules', async () => {
    const { ask } = await serve([
      runbookRoutes(
        {
          runbooks: new Map([
            ['A', '# A\n\n## Meaning\n\nIt is `0: 1`: off. More.\n'],
            ['B', '# B\n\n## Meaning\n\nIt is slow.\n'],
          ]),
          rules: '- alert: A\n  labels:\n    severity: warning\n- alert: B\n  labels:\n    severity: critical\n',
        },
        address,
      ),
    ]);
    expect(toText((await ask('/runbooks/')).body)).toBe('Runbooks\nCritical\nBIt is slow.\nWarning\nAIt is 0: 1.');
  });
});
