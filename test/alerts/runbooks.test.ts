import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { missReasons } from '../../src/expected-runs/deciding/watched-job.ts';
import { contractMetrics } from '../dashboards/contract-metrics.ts';
import { readPromql } from '../dashboards/promql.ts';

const alerts = new URL('../../alerts/', import.meta.url);
const configuration = readFileSync(new URL('../docs/configuration.md', alerts), 'utf8');
const pages = readdirSync(new URL('runbooks/', alerts)).toSorted();

describe('alerts/runbooks', () => {
  it('finds one runbook for each alert, and no other', () => {
    const rules = readFileSync(new URL('rules.yaml', alerts), 'utf8');
    const wanted = [...rules.matchAll(/- alert: (\w+)/g)].map((match) => `${match[1]}.md`);
    expect(pages).toEqual(wanted.toSorted());
  });

  it.each(pages)('finds a title and four sections with text in %s', (page) => {
    const sections = readPage(page).split(/^## /m);
    expect(sections[0]?.trim()).toBe(`# ${page.slice(0, -'.md'.length)}`);
    expect(sections.slice(1).map((section) => section.split('\n', 1)[0])).toEqual([
      'Meaning',
      'Impact',
      'Diagnosis',
      'Mitigation',
    ]);
    for (const section of sections.slice(1))
      expect(section.split('\n').slice(1).join('').trim().length).toBeGreaterThan(40);
  });

  it.each(pages)('sends the token in the usual header in %s', (page) => {
    const text = readPage(page);
    const headers = [...text.matchAll(/^AUTH="(.*?):/gm)].map((match) => match[1]);
    expect(headers.filter((header) => header !== 'X-Rundeck-Auth-Token')).toEqual([]);
    expect(text.includes('`service` dialect takes the header `X-Service-Auth-Token` instead')).toBe(headers.length > 0);
  });

  it.each(['AutomationScheduleMissed.md', 'AutomationScheduleMissedCritical.md'])(
    'explains each cause of a missed run in %s',
    (page) => {
      // These causes have their own alert, AutomationScheduleOwnerGone.
      const causes = missReasons.filter((cause) => cause !== 'orphaned');
      expect(causes.filter((cause) => !readPage(page).includes(`\`${cause}\``))).toEqual([]);
    },
  );

  it.each(pages)('names only existing options and commands in %s', (page) => {
    const text = readPage(page);
    expect(text).not.toContain('npm start');
    const options = [...text.matchAll(/`(alerts\.[a-z_.]+)`/g)].map((match) => `\`${match[1]}\``);
    expect(options.filter((option) => !configuration.includes(option))).toEqual([]);
  });

  it.each(pages)('links every alert that is named in %s', (page) => {
    const prose = readPage(page)
      .replaceAll(/^```.*?^```$/gms, '')
      .replaceAll(/\[[^\]]+\]\(\w+\.md\)/g, '');
    const named = [...prose.matchAll(/^(?!# ).*?\b(Automation\w+)/gm)].map((match) => `${match[1]}.md`);
    expect(named.filter((name) => pages.includes(name))).toEqual([]);
  });

  it.each(pages)('fits on a screen: %s', (page) => {
    // A line of the page has room for 110 characters.
    const rows = readPage(page)
      .split('\n')
      .map((line) => (line === '' ? 0.5 : Math.ceil(line.length / 110)));
    expect(rows.reduce((sum, row) => sum + row, 0)).toBeLessThanOrEqual(62);
  });

  it.each(pages)('finds queries in %s that parse and use existing series', (page) => {
    const queries = [...readPage(page).matchAll(/^```promql\n(.*?)^```$/gms)].map((match) => match[1] ?? '');
    expect(queries.length).toBeGreaterThan(0);
    const read = queries.map((query) => ({ query, ...readPromql(query.trim()) }));
    expect(read.filter(({ valid }) => !valid)).toEqual([]);
    expect(read.flatMap(({ metrics }) => metrics).filter((name) => !contractMetrics.has(name))).toEqual([]);
  });
});

function readPage(page: string): string {
  return readFileSync(new URL(`runbooks/${page}`, alerts), 'utf8');
}
