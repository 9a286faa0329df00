import { describe, expect, it } from 'vitest';
import { allAlerts } from '../../alerts/generate.ts';
import { pageOf } from '../../alerts/label-texts.ts';
import { runbookRoutes } from '../../src/http/routes/runbooks.ts';
import { readContent } from '../../src/http/server/content.ts';
import { kindsOfProblems, ofKind, type Place, type ProblemKind } from '../../src/status/problem-kinds.ts';
import { serve } from '../http/serve.ts';

/** The alerts that have no problem on the front page, each with the reason. */
const withoutProblem: Readonly<Record<string, string>> = {
  AutomationExporterDown: 'no exporter is there to show it',
  AutomationExporterInstanceDown: 'an exporter does not know the targets of Prometheus',
  AutomationExporterHeldUp: 'a process that is blocked shows no page, and one that answers is not blocked',
  AutomationExporterLeaseFlapping: 'it is counted over all exporters, of which each knows its own part',
};

const pages: Readonly<Record<Place, string>> = {
  server: pageOf.server,
  rights: pageOf.rights,
  config: pageOf.front,
  traces: pageOf.traces,
  schedule: pageOf.schedule,
  tonight: pageOf.tonight,
  failures: pageOf.failures,
  jobs: pageOf.job,
  'failed jobs': pageOf.job,
  'off jobs': pageOf.switchedOff,
};

const kinds = Object.keys(kindsOfProblems) as ProblemKind[];
const alerts = allAlerts();

function kindsOf(alert: string): readonly ProblemKind[] {
  return kinds.filter((kind) => ofKind(kind).alerts.includes(alert));
}

describe('alerts, problems and pages', () => {
  it.each(alerts)('shows $alert as a problem on the front page, or states why not', ({ alert, page, severity }) => {
    const found = kindsOf(alert);
    expect(found.length > 0).toBe(withoutProblem[alert] === undefined);
    for (const kind of found) {
      // An alert about one job links to the page of the job instead.
      expect([pages[ofKind(kind).page], pageOf.job]).toContain(page);
      expect({ kind, isNote: ofKind(kind).isNote === true }).toEqual({ kind, isNote: severity === 'info' });
    }
    expect(page !== undefined).toBe(alert !== 'AutomationExporterDown');
  });

  it('names only existing alerts', () => {
    const named = [...kinds.flatMap((kind) => ofKind(kind).alerts), ...Object.keys(withoutProblem)];
    expect(named.filter((name) => !alerts.some(({ alert }) => alert === name))).toEqual([]);
  });

  it('links every runbook to the page that shows the cause', async () => {
    const content = readContent();
    const { ask } = await serve([
      runbookRoutes(content, { externalUrl: () => undefined, ownUrl: () => 'http://localhost:9720' }),
    ]);
    for (const { alert } of alerts) {
      const { status, body } = await ask(`/runbooks/${alert}`);
      expect({ alert, status }).toEqual({ alert, status: 200 });
      expect({ alert, leads: /This exporter shows the problem on <a href="\.\.\/[^"]*">/.test(body) }).toEqual({
        alert,
        leads: alert !== 'AutomationExporterDown',
      });
    }
  });
});
