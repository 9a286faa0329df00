import { describe, expect, it } from 'vitest';
import { type CannedAnswer, scrapeCollector, shown } from '../support/scrape.ts';

const denied = { status: 403, body: '{"error":true,"errorCode":"api.error.item.unauthorized","message":"no"}' };
const disabled = { status: 404, body: '{"error":true,"errorCode":"api.error.project.disabled","message":"off"}' };
const projects = { body: '[{"name":"billing"},{"name":"night jobs"}]' };
const SYSTEM = 'system/acl/';
const BILLING = 'project/billing/acl/';
const NIGHT = 'project/night%20jobs/acl/';

describe('collectors/acl-policies', () => {
  it.each(['rundeck', 'service'] as const)(
    'counts the policies of the system and of each project in the %s dialect',
    async (dialect) => {
      const answers = { projects, [SYSTEM]: acls('a', 'b'), [BILLING]: acls('c'), [NIGHT]: acls() };
      expect(await scrape(answers, { dialect })).toEqual(shown`
        # TYPE automation_acl_policies gauge
        automation_acl_policies{server="prod",project=""} 2
        automation_acl_policies{server="prod",project="billing"} 1
        automation_acl_policies{server="prod",project="night jobs"} 0`);
    },
  );

  it.each<readonly [string, Record<string, CannedAnswer>, string]>([
    [
      'a project that is denied',
      { [SYSTEM]: acls('a'), [BILLING]: denied, [NIGHT]: acls('b') },
      '="" 1, ="night jobs" 1',
    ],
    [
      'a project that is switched off',
      { [SYSTEM]: acls('a'), [BILLING]: disabled, [NIGHT]: acls('b') },
      '="" 1, ="night jobs" 1',
    ],
    [
      'the policies of the system if they are denied',
      { [SYSTEM]: denied, [BILLING]: acls('a'), [NIGHT]: acls('b') },
      '="billing" 1, ="night jobs" 1',
    ],
  ])('leaves out %s', async (_name, answers, expected) => {
    const { text, outcome } = await scrape({ projects, ...answers });
    const rows = text.split('\n').slice(1);
    expect(outcome).toBe('success');
    expect(
      rows.map((row) => row.replace('automation_acl_policies{server="prod",project', '').replace('}', '')).join(', '),
    ).toBe(expected);
  });

  it('sends no request for excluded projects', async () => {
    const answers = { projects, [SYSTEM]: acls(), [BILLING]: acls('a'), [NIGHT]: { status: 500, body: '' } };
    const watch = { isWanted: (name: string) => name === 'billing' };
    expect(await scrape(answers, { watch })).toEqual(shown`
        # TYPE automation_acl_policies gauge
        automation_acl_policies{server="prod",project=""} 0
        automation_acl_policies{server="prod",project="billing"} 1`);
  });

  it('counts files but no folders, and counts 0 if a listing has no `resources`', async () => {
    const mixed =
      '{"path":"","type":"directory","resources":[{"path":"x.aclpolicy","type":"file"},{"path":"y","type":"directory"},null]}';
    const answers = {
      projects: { body: '[{"name":"billing"}]' },
      [SYSTEM]: { body: mixed },
      [BILLING]: { body: '{"path":"","type":"directory"}' },
    };
    expect(await scrape(answers)).toEqual(shown`
        # TYPE automation_acl_policies gauge
        automation_acl_policies{server="prod",project=""} 1
        automation_acl_policies{server="prod",project="billing"} 0`);
  });

  it.each<readonly [string, Record<string, CannedAnswer>]>([
    ['forbidden', { [SYSTEM]: denied, [BILLING]: denied, [NIGHT]: denied }],
    ['server', { [SYSTEM]: acls('a'), [BILLING]: { status: 500, body: '' }, [NIGHT]: acls() }],
    ['decode', { [SYSTEM]: { body: '[]' } }],
  ])('reports %s and no series for %j', async (outcome, answers) => {
    expect(await scrape({ projects, ...answers })).toEqual({ outcome, text: '' });
  });
});

function acls(...names: readonly string[]): CannedAnswer {
  const files = names.map(
    (name) => `{"path":"${name}.aclpolicy","type":"file","href":"http://h/x","name":"${name}.aclpolicy"}`,
  );
  return { body: `{"path":"","type":"directory","href":"http://h/","resources":[${files.join(',')}]}` };
}

function scrape(
  answers: Readonly<Record<string, CannedAnswer>>,
  upstream: Partial<Parameters<typeof scrapeCollector>[1]> = {},
) {
  return scrapeCollector('acl-policies', { ...upstream, answers });
}
