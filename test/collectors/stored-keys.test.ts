import { describe, expect, it } from 'vitest';
import { type CannedAnswer, scrapeCollector } from '../support/scrape.ts';

const ROOT = 'storage/keys/';
const missing = { status: 404, body: '{"error":true,"errorCode":"api.error.item.doesnotexist","message":"gone"}' };

describe('collectors/stored-keys', () => {
  it('counts keys by kind in all folders (rundeck dialect)', async () => {
    const answers = {
      [ROOT]: folder(
        '{"path":"keys/deploy.pub","type":"file","name":"deploy.pub","url":"http://h/1","meta":{"Rundeck-content-type":"application/pgp-keys","Rundeck-content-size":"393","Rundeck-key-type":"public"}}',
        '{"path":"keys/team one","type":"directory","name":null,"url":"http://h/2","meta":null}',
        '{"path":"keys/empty","type":"directory","name":null,"url":"http://h/2","meta":{}}',
      ),
      'storage/keys/team%20one/': folder(
        '{"path":"keys/team one/node.pem","type":"file","name":"node.pem","meta":{"Rundeck-content-type":"application/octet-stream","Rundeck-content-mask":"content","Rundeck-key-type":"private"}}',
        '{"path":"keys/team one/pay+ments","type":"directory","name":null,"meta":null}',
      ),
      'storage/keys/team%20one/pay%2Bments/': folder(
        '{"path":"keys/team one/pay+ments/ledger","type":"file","name":"ledger","meta":{"Rundeck-content-type":"application/x-rundeck-data-password","Rundeck-content-mask":"content","Rundeck-data-type":"password"}}',
        '{"path":"keys/team one/pay+ments/second","type":"file","name":"second","meta":{"Rundeck-data-type":"password"}}',
      ),
      'storage/keys/empty/': {
        body: '{"path":"keys/empty","type":"directory","name":null,"url":"http://h/","meta":null}',
      },
    };
    expect(await scrape({ answers })).toEqual({
      outcome: 'success',
      text: kinds({ password: 2, private: 1, public: 1 }),
    });
  });

  it('counts keys by kind (service dialect)', async () => {
    const answers = {
      [ROOT]: folder(
        '{"path":"keys/a","type":"file","name":"a","url":"http://h/1","meta":{"Service-content-type":"application/x-service-data-password","Service-content-size":"8","Service-content-mask":"content"}}',
        '{"path":"keys/b","type":"file","name":"b","url":"http://h/2","meta":{"Service-content-type":"application/octet-stream","Service-key-type":"private","Service-content-mask":"content"}}',
        '{"path":"keys/c","type":"file","name":"c","url":"http://h/3","meta":{"Service-content-type":"text/plain"}}',
        '{"path":"keys/d","type":"file","name":"d","url":"http://h/4"}',
      ),
    };
    expect(await scrape({ dialect: 'service', answers })).toEqual({
      outcome: 'success',
      text: kinds({ password: 1, private: 1, public: 0 }),
    });
  });

  it('counts 0 keys if the server has none', async () => {
    const none = (path: string): CannedAnswer => ({
      status: 404,
      body: `{"error":"resource not found: /keys/${path}"}`,
    });
    const nothing = { outcome: 'success', text: kinds({ password: 0, private: 0, public: 0 }) };
    expect(await scrape({ answers: { [ROOT]: none('') } })).toEqual(nothing);
    const answers = { [ROOT]: folder('{"path":"keys/gone","type":"directory"}'), 'storage/keys/gone/': none('gone') };
    expect(await scrape({ answers })).toEqual(nothing);
    // A 404 of a gateway does not mean that a key is missing.
    const gateway = { [ROOT]: { status: 404, body: '{"error":"Not Found"}' } };
    expect(await scrape({ answers: gateway })).toMatchObject({ text: '' });
  });

  it('treats a folder that was deleted meanwhile as empty', async () => {
    const answers = { [ROOT]: folder('{"path":"keys/gone","type":"directory"}'), 'storage/keys/gone/': missing };
    expect(await scrape({ answers })).toEqual({
      outcome: 'success',
      text: kinds({ password: 0, private: 0, public: 0 }),
    });
  });

  it('requests a folder only once, even if the folder contains itself', async () => {
    const self = folder(
      '{"path":"keys/loop","type":"directory"}',
      '{"path":"keys/x","type":"file","meta":{"Rundeck-key-type":"public"}}',
    );
    expect(await scrape({ answers: { [ROOT]: self, 'storage/keys/loop/': self } })).toEqual({
      outcome: 'success',
      text: kinds({ password: 0, private: 0, public: 2 }),
    });
  });

  it('shows no series instead of a partial count of very many folders', async () => {
    const names = Array.from({ length: 501 }, (_, index) => `f${index}`);
    const answers = Object.fromEntries(names.map((name) => [`storage/keys/${name}/`, folder()]));
    const root = folder(...names.map((name) => `{"path":"keys/${name}","type":"directory"}`));
    expect(await scrape({ answers: { ...answers, [ROOT]: root } })).toEqual({ outcome: 'too_large', text: '' });
  });

  it('shows no series instead of a partial count of very deep folders', async () => {
    const paths = Array.from({ length: 21 }, (_, depth) => 'd/'.repeat(depth));
    const answers = Object.fromEntries(
      paths.map((path) => [`storage/keys/${path}`, folder(`{"path":"keys/${path}d","type":"directory"}`)]),
    );
    expect(await scrape({ answers })).toEqual({ outcome: 'too_large', text: '' });
  });

  it.each<readonly [string, Record<string, CannedAnswer>]>([
    ['forbidden', { [ROOT]: { status: 403, body: '{"error":true,"errorCode":"api.error.item.unauthorized"}' } }],
    [
      'forbidden',
      {
        [ROOT]: folder('{"path":"keys/closed","type":"directory"}'),
        'storage/keys/closed/': { status: 403, body: '{"error":true,"errorCode":"api.error.item.unauthorized"}' },
      },
    ],
    // Release 6 refuses the name of this folder in a path; the folder may exist.
    [
      'not_found',
      {
        [ROOT]: folder('{"path":"keys/50%","type":"directory"}'),
        'storage/keys/50%25/': { status: 400, headers: { 'content-type': 'text/html' }, body: '<h1>400</h1>' },
      },
    ],
    ['decode', { [ROOT]: folder('{"path":"elsewhere/x","type":"directory"}') }],
    ['decode', { [ROOT]: { body: '[]' } }],
  ])('reports %s and no series for %j', async (outcome, answers) => {
    expect(await scrape({ answers })).toEqual({ outcome, text: '' });
  });
});

function folder(...resources: readonly string[]): CannedAnswer {
  return {
    body: `{"path":"keys","type":"directory","name":null,"url":"http://h/","meta":null,"resources":[${resources.join(',')}]}`,
  };
}

function kinds({ password, private: secret, public: open }: Record<'password' | 'private' | 'public', number>): string {
  return `# TYPE automation_stored_keys gauge
automation_stored_keys{server="prod",kind="password"} ${password}
automation_stored_keys{server="prod",kind="private"} ${secret}
automation_stored_keys{server="prod",kind="public"} ${open}`;
}

function scrape(upstream: Parameters<typeof scrapeCollector>[1]) {
  return scrapeCollector('stored-keys', upstream);
}
