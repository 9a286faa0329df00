import { describe, expect, it } from 'vitest';
import { alertRoutes, dashboardRoutes } from '../../src/http/routes/alerts.ts';
import { runbookRoutes } from '../../src/http/routes/runbooks.ts';
import { readContent } from '../../src/http/server/content.ts';
import { serve } from './serve.ts';

const content = readContent();
const address = { externalUrl: () => undefined, ownUrl: () => 'http://localhost:9720' };
const folders = ['/dashboards/', '/runbooks/', '/alerts/'];
/** These paths lead to package.json outside of the served folders. */
const ways = [
  '../package.json',
  '../../package.json',
  '%2e%2e/package.json',
  '..%2fpackage.json',
  '..%5cpackage.json',
  '....//package.json',
  '%2e%2e%2fpackage',
  '/etc/passwd',
  '..;/package.json',
  'overview.json%00',
  '__proto__',
  'constructor',
  '__proto__.json',
];

describe('http/server/content', () => {
  it('serves only files that were read at the start', async () => {
    const { ask } = await serve([
      dashboardRoutes(content, address),
      runbookRoutes(content, address),
      alertRoutes({ content, ...address, grafanaUrl: () => undefined }),
    ]);
    for (const known of ['/dashboards/overview.json', '/runbooks/AutomationServiceDown', '/alerts/rules.yaml'])
      expect({ known, status: (await ask(known)).status }).toEqual({ known, status: 200 });
    for (const path of folders.flatMap((folder) => ways.map((way) => `${folder}${way}`))) {
      const { status, body } = await ask(path);
      expect({ path, status }).toEqual({ path, status: status === 400 ? 400 : 404 });
      expect(body).not.toMatch(/"dependencies"|root:/);
    }
  });
});
