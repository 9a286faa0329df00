import { describe, expect, it } from 'vitest';
import { type CannedAnswer, refusal, scrapeCollector, shown } from '../support/scrape.ts';

describe('collectors/project-nodes', () => {
  it.each<readonly [string, Upstream]>([
    ['5.3', {}],
    ['14, asked for JSON', { apiVersion: 14 }],
    ['the neutral dialect', { dialect: 'service' }],
  ])('counts the nodes of %s by family', async (_name, upstream) => {
    const body = `{
      "web01":{"nodename":"web01","hostname":"web01.example.org","username":"deploy","osFamily":"unix","osName":"Linux","osArch":"amd64","osVersion":"6.1","description":"","tags":"web, eu"},
      "web02":{"nodename":"web02","osFamily":"unix","tags":""},
      "win01":{"nodename":"win01","osFamily":"windows"}}`;
    expect(await scrape({ body }, upstream)).toEqual(shown`
        # TYPE automation_project_nodes gauge
        automation_project_nodes{server="prod",project="pay",os_family="unix"} 2
        automation_project_nodes{server="prod",project="pay",os_family="windows"} 1`);
  });

  it('counts nodes without an OS family', async () => {
    const body =
      '{"a":{"nodename":"a"},"b":{"osFamily":""},"c":{"osFamily":null},"__proto__":{},"d":{"osFamily":"unix"},"e":null}';
    expect(await scrape({ body })).toEqual(shown`
        # TYPE automation_project_nodes gauge
        automation_project_nodes{server="prod",project="pay",os_family=""} 5
        automation_project_nodes{server="prod",project="pay",os_family="unix"} 1`);
  });

  it('shows 0 for a project without nodes', async () => {
    expect(await scrape({ body: '{}' })).toEqual(shown`
        # TYPE automation_project_nodes gauge
        automation_project_nodes{server="prod",project="pay",os_family=""} 0`);
  });

  it.each<readonly [string, CannedAnswer]>([
    ['forbidden', refusal(403, 'api.error.item.unauthorized')],
    ['success', refusal(404, 'api.error.project.disabled')],
    ['rejected', refusal(415, 'api.error.item.unsupported-format')],
    ['decode', { headers: { 'content-type': 'text/xml' }, body: '<?xml version="1.0"?><project/>' }],
    ['decode', { body: '[]' }],
    ['empty', { body: '' }],
  ])('reports %s and no series for %j', async (outcome, answer) => {
    expect(await scrape(answer)).toEqual({ outcome, text: '' });
  });
});

type Upstream = Omit<Parameters<typeof scrapeCollector>[1], 'answers'>;

function scrape(answer: CannedAnswer, upstream: Upstream = {}) {
  const answers = { projects: { body: '[{"name":"pay"}]' }, 'project/pay/resources': answer };
  return scrapeCollector('project-nodes', { answers, ...upstream });
}
