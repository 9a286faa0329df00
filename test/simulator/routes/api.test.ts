import { describe, expect, it } from 'vitest';
import { ask, asService, startEmpty } from '../caller.ts';

describe('simulator/routes/api', () => {
  it('reports its newest version to a caller who requests a newer version (A 7.2)', async () => {
    const simulator = await startEmpty();
    const reply = await ask(simulator, 'api/99/system/info');
    await simulator.stop();
    expect(reply.status).toBe(400);
    expect(reply.headers.get('x-rundeck-api-version')).toBe('47');
    expect(reply.text).toBe(
      '{"error":true,"apiversion":47,"errorCode":"api.error.api-version.unsupported","message":"Unsupported API Version \\"99\\". API Request: /api/99/system/info. Reason: Current version: 47"}',
    );
  });

  it.each([
    ['nonsense', 'Current version: 47'],
    ['4.7', 'Current version: 47'],
    ['13', 'Minimum supported version: 14'],
  ])('refuses version %s (A 9)', async (version, reason) => {
    const simulator = await startEmpty();
    const reply = await ask(simulator, `api/${version}/projects`);
    await simulator.stop();
    expect(reply.status).toBe(400);
    expect(reply.json).toMatchObject({ errorCode: 'api.error.api-version.unsupported' });
    expect(reply.text).toContain(`Reason: ${reason}"`);
  });

  it.each([
    'api/58/storage/keys/50%25/',
    'api/58/storage/keys/a%2Fb/',
    'api/58/storage/keys/a%5Cb/',
    'api//58/projects',
  ])('refuses %s from release 6 on, before the API is reached', async (path) => {
    const simulator = await startEmpty({ apiVersion: 58, release: '6.0.0' });
    const reply = await ask(simulator, path);
    await simulator.stop();
    expect([reply.status, reply.headers.get('content-type')]).toEqual([400, 'text/html;charset=utf-8']);
  });

  it('shows its monitoring to everybody from 6.0 on', async () => {
    const seen = [];
    for (const release of ['5.20.0', '6.0.0']) {
      const simulator = await startEmpty({ release });
      const open = await ask(simulator, 'monitoring/prometheus', { headers: {} });
      const api = await ask(simulator, 'api/58/monitoring/prometheus');
      seen.push([open.status, api.status]);
      await simulator.stop();
    }
    expect(seen).toEqual([
      [302, 404],
      [200, 200],
    ]);
  });

  it('reports its version at the base URL of the API', async () => {
    const simulator = await startEmpty();
    const reply = await ask(simulator, 'api/14');
    await simulator.stop();
    expect(reply.text).toBe('{"apiversion":47,"href":"{base}/api/47"}');
  });

  it('simulates every release of both dialects', async () => {
    const seen: string[] = [];
    for (const apiVersion of [...Array.from({ length: 34 }, (_, index) => index + 14), 58]) {
      for (const dialect of ['rundeck', 'service'] as const) {
        const simulator = await startEmpty({ dialect, apiVersion });
        const reply = await ask(
          simulator,
          `api/${apiVersion}/system/info`,
          dialect === 'service' ? asService(simulator) : {},
        );
        await simulator.stop();
        const { system } = reply.json as { system: Record<string, { apiversion?: unknown }> };
        seen.push(`${dialect} ${String(apiVersion)} ${JSON.stringify(system[dialect]?.apiversion)}`);
      }
    }
    expect(seen).toHaveLength(70);
    expect(seen.slice(0, 2)).toEqual(['rundeck 14 14', 'service 14 14']);
    expect(seen.slice(-4)).toEqual(['rundeck 47 "47"', 'service 47 47', 'rundeck 58 "58"', 'service 58 58']);
  });

  it('has no endpoints that the simulated release lacks', async () => {
    const simulator = await startEmpty({ apiVersion: 31 });
    const reply = await ask(simulator, 'api/31/system/executions/status');
    await simulator.stop();
    expect(reply.status).toBe(404);
    expect(reply.json).toMatchObject({ errorCode: 'api.error.invalid.request' });
  });

  it('responds to unknown paths with 404', async () => {
    const simulator = await startEmpty();
    const reply = await ask(simulator, 'api/47/no/such/thing');
    const [request] = simulator.requests();
    await simulator.stop();
    expect(reply.status).toBe(404);
    expect(reply.json).toMatchObject({ errorCode: 'api.error.invalid.request' });
    expect(request).toMatchObject({ path: '/api/47/no/such/thing', status: 404, endpointKnown: false });
  });

  it('refuses a wrong method in the requested format', async () => {
    const simulator = await startEmpty();
    const json = await ask(simulator, 'api/47/system/info', { ...withToken(simulator.token), method: 'POST' });
    const html = await ask(simulator, 'api/47/system/info', {
      ...withToken(simulator.token),
      method: 'POST',
      accept: 'text/html',
    });
    await simulator.stop();
    expect([json.status, json.text]).toEqual([405, '{"error":"Method not allowed"}']);
    expect([html.status, html.headers.get('content-type')]).toEqual([405, 'text/html;charset=utf-8']);
  });

  it('responds in XML before v39 unless JSON is requested (A 7.1)', async () => {
    const simulator = await startEmpty({ apiVersion: 37 });
    const error = await ask(simulator, 'api/37/job/none/info', { accept: undefined });
    const success = await ask(simulator, 'api/37/projects', { accept: undefined });
    const json = await ask(simulator, 'api/37/job/none/info');
    await simulator.stop();
    expect(error.text).toBe(
      "<result error='true' apiversion='37'><error code='api.error.item.doesnotexist'><message>Job ID does not exist: none</message></error></result>",
    );
    expect(success.headers.get('content-type')).toBe('text/xml;charset=utf-8');
    expect(json.json).toMatchObject({ errorCode: 'api.error.item.doesnotexist' });
  });

  it('writes its own time into the Date header', async () => {
    const simulator = await startEmpty();
    simulator.control.setClockSkew(600_000);
    const reply = await ask(simulator, 'api/47/projects');
    await simulator.stop();
    expect(reply.headers.get('date')).toBe('Thu, 15 Jan 2026 12:10:00 GMT');
  });
});

function withToken(token: string) {
  return { headers: { 'X-Rundeck-Auth-Token': token } };
}
