import { describe, expect, it } from 'vitest';
import { createScrub } from '../../src/diagnosis/lines/scrub.ts';
import { secretForms } from './corpus.ts';

const scrub = createScrub();

/** Lines of programs that look like secrets. */
const innocent: readonly string[] = [
  '- name: DB_PASSWORD\n  valueFrom:\n    fieldRef: db',
  '- name: DB_PASSWORD\n- name: DB_HOST\n  value: db03',
  'GET /reset?next=%2Fpassword%2Fnew 404',
  '1 token &amp; 2 keys &quot;found&quot;',
  'gpio: pin=17 is busy',
  'send "200 OK" to web01; connect("db03", "shop", 5432)',
  'psql: error: password authentication failed for user "settle"',
  'Permission denied (publickey,password).',
  'PWD=/var/lib/rundeck OLDPWD=/',
  'SyntaxError: Unexpected token } in JSON at position 118',
  'commit 2f7a9c1e5b3d8f0a6c4e2b1d9f7a5c3e1b8d6f4a by alice',
  'Digest: sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  '/usr/lib/jvm/java-17-openjdk-amd64/lib/security/cacerts: no such file',
  '\tat org.springframework.beans.factory.support.DefaultListableBeanFactory.doResolveDependency(DefaultListableBeanFactory.java:1373)',
  'ORA-01017: invalid username/password; logon denied',
  'request 6fa459ea-ee8a-3ca4-894e-db77e160355e took 4312 ms',
  'pod payment-settlement-worker-7d9f8b6c5d-x2x8z is not ready',
  'rsync error: some files could not be transferred (code 23) at main.c(1338) [sender=3.2.7]',
  'E: Failed to fetch http://mirror.example/packages/settle_3.0.15-1_all.archive  404  Not Found',
  'FATAL: the secret store is sealed',
  'curl: (7) Failed to connect to api.example port 443 after 3 ms: Connection refused',
  'token: expired',
  'TASK [common : install packages] *********************************************',
  'fatal: [db03]: UNREACHABLE! => {"changed": false, "msg": "Failed to connect to the host via ssh", "unreachable": true}',
  'Traceback (most recent call last):',
  '  File "/srv/app/settle.py", line 42, in <module>',
  'echo deployment finished | tee /var/log/deploy.log',
  'docker pull registry.example/app:1.2',
  'Changing password for user deploy.',
  'password for user app has been changed',
  'Error from server (NotFound): secrets "db-credentials-7d9f8b" not found',
  'secret default-token-x2x8z not found in namespace shop',
  'using the private key: failed to load it',
  'tokens:',
  '  count: 3',
  'secrets:',
  '  - name: db',
  'Basic authentication failed for realm Sonatype',
  'at com.example.Token::parse(Token.java:17)',
  'mysqlcheck --all-databases --auto-repair',
  'mysqldump: Got error: 1045: Access denied for user',
  'redis-cli -p',
  'PASS src/app/loginForm2.test.ts',
  'PASS: TestToken (0.01s)',
  "ldapsearch: ldap_sasl_interactive_bind: Can't contact LDAP server (-1)",
  'kubectl patch deployment app -p {"spec":{"replicas":2}}',
  'vault: error: permission denied on secret/data/db',
  'openssl x509 -in server.pem -noout -enddate',
  'net use: the network path was not found',
  'set timeout 30',
  'group identified by uid 1042 does not exist',
  'main.c:42:7:error',
  'http://status.pw:8080/health answered 503',
];

describe('diagnosis/lines/scrub', () => {
  it.each(secretForms)('removes $form', ({ write, make }) => {
    const secret = make(7);
    const { texts, removed } = scrub([write(secret)].flatMap((text) => text.split('\n')));
    for (const part of secret.split('\n')) expect(texts.join('\n')).not.toContain(part);
    expect(removed).toBeGreaterThan(0);
  });

  it.each(innocent)('leaves a text unchanged: %s', (line) => {
    expect(scrub([line])).toEqual({ texts: [line], removed: 0 });
  });

  it('removes a private key over many lines, and no line after the key', () => {
    const key = [
      'x -----BEGIN OPENSSH PRIVATE KEY-----',
      'b3BlbnNzaC1r',
      'ZXktdjEAAAA=',
      '-----END OPENSSH PRIVATE KEY-----',
    ];
    expect(scrub(['before', ...key, 'after'])).toEqual({
      texts: ['before', ...key.map(() => '[removed]'), 'after'],
      removed: 4,
    });
  });

  it('removes the end of a private key whose start is missing', () => {
    const rest = ['DEK-Info: AES-128-CBC,7F', 'Zg==', '-----END OPENSSH PRIVATE KEY-----'];
    expect(scrub([...rest, 'after']).texts).toEqual(['[removed]', '[removed]', '[removed]', 'after']);
    expect(scrub(['cp: no space left', '-----END OPENSSH PRIVATE KEY-----']).texts[0]).toBe('cp: no space left');
  });

  it('removes lines that match the patterns of the site', () => {
    const { texts } = createScrub((text) => text.includes('ACME'))(['order ACME-77', 'order 78']);
    expect(texts).toEqual(['[removed]', 'order 78']);
  });

  it.each([
    'password',
    'PWD',
    'a-',
    '"',
    'eyJ.',
    'mysql -p ',
    'rar -p ',
    '://',
    '<secret ',
    'curl -u a:',
    "password=b'\\'",
    'name="token" ',
    'password: |\n',
    'password for user ',
    'snmpget -c ',
    'net use \\\\a ',
    'vault kv put a b=',
    'htpasswd -b a ',
    'echo a ',
    ']a-fd',
  ])('needs little time for a line of %j', (piece) => {
    const toLeastMs = (repeated: string): number => {
      const line = `token ${repeated.repeat(16_000)}`.slice(0, 16_000);
      const toCpuMs = (): number => {
        const before = process.threadCpuUsage();
        for (let times = 0; times < 6; times += 1) scrub([line]);
        return process.threadCpuUsage(before).user / 1000;
      };
      return Math.min(toCpuMs(), toCpuMs(), toCpuMs());
    };
    expect(toLeastMs(piece)).toBeLessThan(40 * Math.max(1, toLeastMs('copied 3 files to web01; ')));
  });
});
