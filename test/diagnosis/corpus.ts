/** A secret, and a line of output that contains it. */
type SecretForm = {
  readonly form: string;
  readonly make: (seed: number) => string;
  readonly write: (secret: string) => string;
};

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** A random word; the same seed always gives the same word. */
function toWord(seed: number, length: number, alphabet = letters): string {
  let state = (seed * 2_654_435_761) >>> 0;
  let word = '';
  for (let at = 0; at < length; at += 1) {
    state = (Math.imul(state ^ (state >>> 15), 0x2c_1b_3c_6d) + at * 97 + 12_345) >>> 0;
    word += alphabet[(state >>> 8) % alphabet.length];
  }
  return word;
}

const hex = '0123456789abcdef';
const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const password = (seed: number): string => `${toWord(seed, 5)}!${toWord(seed + 1, 4)}`;
const plainWord = (seed: number): string => `Zq${toWord(seed, 9)}`;
const ofLength =
  (length: number, before = '', alphabet = letters) =>
  (seed: number): string =>
    `${before}${toWord(seed, length, alphabet)}`;

/** Lines of output that contain a password chosen by a person. */
const written: readonly string[] = [
  String.raw`body: "{\"api_key\":\"SECRET\"}"`,
  '<property><dbPassword>SECRET</dbPassword></property>',
  'curl -sS -u deploy:SECRET https://nexus.example/repo',
  "fatal: unable to access 'https://ci:SECRET@git.example/x.git/'",
  'could not connect to postgres://app:SECRET@db03:5432/shop',
  'GET https://api.example/v1?access_token=SECRET&page=2 401',
  "ERROR near: CREATE USER app IDENTIFIED BY 'SECRET'",
  "ERROR near: CREATE ROLE app LOGIN PASSWORD 'SECRET'",
  'no connection: jdbc:oracle:thin:scott/SECRET@db03:1521:ORCL',
  "fatal: unable to access 'https://ci:a@SECRET@git.example/x.git/'",
  String.raw`+ DB_PASSWORD='a'\''SECRET'`,
  'password: |\n  SECRET',
  '  "db_password": >-\n      SECRET\n  user: app',
  'password: !unsafe SECRET',
  'password:\n  SECRET',
  'stringData:\n  dsn: SECRET',
  'data:\n  dsn: SECRET\nkind: Secret',
  ' kind: Secret\n+data:\n+  dsn: SECRET',
  '  kind: Secret\n-   data:\n-     dsn: SECRET',
  'kind:Secret data:map[dsn:SECRET user:deploy]',
  'ansible all -m shell -a "redis-cli -a SECRET ping"',
  "parallel-ssh -p 'sshpass -p SECRET ssh db01'",
  'send "SECRET\\r"',
  'expect "assword:" { send -- "SECRET\\r" }',
  "connect('weblogic','SECRET','t3://wls01:7001')",
  "connect('weblogic', 'SECRET', url='t3s://wls01:7002')",
  '  "data": {\n    "dsn": "SECRET"\n  },\n  "kind": "Secret",',
  '- kind: Secret # of the shop\n  data:\n    dsn: SECRET',
  "- data:\n    dsn: SECRET\n  kind: 'Secret'",
  '      {"apiVersion":"v1","data":{"dsn":"SECRET"},"kind":"Secret"}',
  String.raw`"last": "{\"kind\":\"Secret\",\"stringData\":{\"a\":\"{}\",\"dsn\":\"SECRET\"}}"`,
  'password = <<-EOT\nSECRET\nEOT',
  '+ echo SECRET | passwd --stdin deploy',
  'echo "deploy:SECRET" | sudo chpasswd',
  "echo 'SECRET' | sudo -S systemctl restart app",
  "printf '%s' SECRET | docker login -u ci --password-stdin",
  'docker login --password-stdin <<< SECRET',
  'htpasswd -b /etc/nginx/.htpasswd deploy SECRET',
  'htpasswd -nbB deploy SECRET',
  'connect host=db pw=SECRET',
  'TF_VAR_admin_pw=SECRET terraform plan',
  'psk=SECRET',
  '10.0.0.1 10.0.0.2 : PSK "SECRET"',
  'crypto isakmp pre-shared-key SECRET address 10.0.0.1',
  'wpa_passphrase HomeNet SECRET',
  'curl -sSfu deploy:SECRET https://nexus.example/',
  'curl --cert client.pem:SECRET https://nexus.example/',
  'curl -b "session=SECRET" https://nexus.example/',
  "SET PASSWORD FOR 'app'@'%' = PASSWORD('SECRET');",
  'ALTER USER app IDENTIFIED BY SECRET ACCOUNT UNLOCK',
  "CREATE LOGIN app WITH PASSWORD = N'SECRET'",
  '"cmd": ["mysql", "-u", "root", "-pSECRET"]',
  "['sshpass', '-p', 'SECRET', 'ssh', 'web01']",
  'cmd: ["backup", "--password", "SECRET"]',
  "{u'password': u'SECRET'}",
  'mysqlimport -u root -pSECRET shop a.txt',
  'ldapadd -x -D cn=admin -w SECRET -f a.ldif',
  'ldappasswd -s SECRET uid=app',
  'userPassword:: SECRET',
  'rootpw SECRET',
  'podman login -u ci -p SECRET registry.example',
  'redis-cli -p 6379 -a SECRET ping',
  'oc login -u admin -p SECRET https://cluster.example',
  'skopeo copy --src-creds ci:SECRET a b',
  'kubectl create secret generic db --from-literal=dsn=SECRET',
  `kubectl patch secret db -p '{"data":{"dsn":"SECRET"}}'`,
  'aws configure set aws_secret_access_key SECRET',
  'aws ssm put-parameter --name /db --type SecureString --value SECRET',
  'vault kv put secret/db dsn=SECRET',
  'vault login SECRET',
  '  ~ password = "old" -> "SECRET"',
  'variable "db_password" { default = "SECRET" }',
  'ssl.keystore.password SECRET',
  "'SECRET' | ConvertTo-SecureString -AsPlainText -Force",
  'New-Object System.Net.NetworkCredential("deploy","SECRET")',
  String.raw`net use Z: \\files\share /user:corp\app SECRET`,
  'net user deploy SECRET /add',
  'setx DB_PASSWORD SECRET',
  'snmpget -v3 -u app -A SECRET -X SECRET 10.0.0.1',
  'rabbitmqctl add_user app SECRET',
  'lftp -u deploy,SECRET sftp://files.example',
  'plink -ssh app@web01 -pw SECRET ls',
  'useradd -m -p SECRET deploy',
  'sqlplus app/SECRET @job.sql',
  'db2 connect to shop user app using SECRET',
  'db03:5432:shop:app:SECRET',
  "define('DB_PASSWORD', 'SECRET');",
  '<add key="DbPassword" value="SECRET"/>',
  '<param name="password">SECRET</param>',
  'A temporary password is generated for root@localhost: SECRET',
  'PASSWORD (password): SECRET',
  "DB_PASSWORD=$'SECRET'",
  '+   - name: DB_PASSWORD\n+     value: SECRET',
  '  "Name": "DB_PASSWORD",\n  "Value": "SECRET"',
  'POST user=app%26password%3DSECRET',
  '%7B%22password%22%3A%22SECRET%22%7D',
  '&quot;password&quot;:&quot;SECRET&quot;',
  String.raw`\u0022password\u0022\u003a\u0022SECRET\u0022`,
  '密码：SECRET',
  '비밀번호: SECRET',
  'كلمة المرور: SECRET',
];

export const secretForms: readonly SecretForm[] = [
  { form: 'a variable of a shell', make: password, write: (secret) => `+ export DB_PASSWORD=${secret}` },
  { form: 'prompts in other languages', make: password, write: (s) => `Senha: ${s}\nHasło: ${s}\nПароль: ${s}` },
  { form: 'a user of etcd', make: password, write: (secret) => `+ etcdctl --user root:${secret} get a` },
  { form: 'a quoted variable', make: password, write: (secret) => `PGPASSWORD='${secret}' psql -h db03` },
  { form: 'a field of JSON', make: password, write: (secret) => `{"user":"app","password":"${secret}","port":5432}` },
  { form: 'a key of YAML', make: password, write: (secret) => `  client_secret: ${secret}` },
  {
    form: 'a value of YAML with spaces',
    make: (seed) => `${plainWord(seed)} ${plainWord(seed + 9)}`,
    write: (secret) => `  passphrase: ${secret}`,
  },
  { form: 'an attribute of XML', make: plainWord, write: (secret) => `<user name="app" password="${secret}"/>` },
  { form: 'a key of an ini file', make: password, write: (secret) => `spring.datasource.password = ${secret}` },
  { form: 'a map of Ruby', make: plainWord, write: (secret) => `{:user => "app", :token => "${secret}"}` },
  { form: 'an argument', make: password, write: (secret) => `running: backup --password ${secret} --all` },
  { form: 'an argument with a sign', make: password, write: (secret) => `running: backup --api-token=${secret} --all` },
  { form: 'an argument of mysql', make: password, write: (secret) => `+ mysqldump -u root -p${secret} shop` },
  { form: 'an argument of sshpass', make: password, write: (secret) => `sshpass -p ${secret} ssh deploy@web01` },
  {
    form: 'a signature in a query',
    make: ofLength(43),
    write: (secret) => `https://store.example/a?sv=2024-01-01&sig=${secret}%3D`,
  },
  { form: 'a bearer token', make: ofLength(40), write: (secret) => `> Authorization: Bearer ${secret}` },
  { form: 'a scheme in lower case', make: ofLength(24), write: (secret) => `connecting with bearer ${secret}` },
  { form: 'basic credentials', make: ofLength(24), write: (secret) => `"Authorization": "Basic ${secret}="` },
  { form: 'a header with a token', make: ofLength(32), write: (secret) => `X-Rundeck-Auth-Token: ${secret}` },
  { form: 'a cookie', make: ofLength(26), write: (secret) => `Set-Cookie: JSESSIONID=${secret}; Path=/; HttpOnly` },
  {
    form: 'a JSON web token',
    make: (seed) => `eyJ${toWord(seed, 20)}.eyJ${toWord(seed + 1, 40)}.${toWord(seed + 2, 43)}`,
    write: (secret) => `rejected: ${secret} has expired`,
  },
  {
    form: 'a key id of AWS',
    make: ofLength(16, 'AKIA', upper),
    write: (secret) => `InvalidClientTokenId for ${secret}`,
  },
  { form: 'a secret key of AWS', make: ofLength(40), write: (secret) => `aws_secret_access_key = ${secret}` },
  { form: 'a long random word', make: ofLength(48), write: (secret) => `using ${secret} from vault` },
  { form: 'a token of GitHub', make: ofLength(36, 'ghp_'), write: (secret) => `remote: bad credentials ${secret}` },
  { form: 'a token of GitLab', make: ofLength(20, 'glpat-'), write: (secret) => `clone with ${secret} failed` },
  {
    form: 'a token of Slack',
    make: (seed) => `xoxb-${toWord(seed, 12, '0123456789')}-${toWord(seed, 24)}`,
    write: (secret) => `slack: invalid_auth ${secret}`,
  },
  {
    form: 'an address of a Slack webhook',
    make: (seed) => `T${toWord(seed, 8)}/B${toWord(seed + 1, 8)}/${toWord(seed + 2, 24)}`,
    write: (secret) => `POST https://hooks.slack.com/services/${secret} 404`,
  },
  { form: 'a key of Google', make: ofLength(35, 'AIza'), write: (secret) => `API key not valid: ${secret}` },
  {
    form: 'a key of Stripe',
    make: ofLength(24, ['sk', 'live', ''].join('_')),
    write: (secret) => `Invalid API Key provided: ${secret}`,
  },
  { form: 'a token of npm', make: ofLength(36, 'npm_'), write: (secret) => `npm ERR! 401 with ${secret}` },
  { form: 'a token of PyPI', make: ofLength(60, 'pypi-'), write: (secret) => `HTTPError: 403 for ${secret}` },
  {
    form: 'a key of SendGrid',
    make: (seed) => `SG.${toWord(seed, 22)}.${toWord(seed + 1, 43)}`,
    write: (secret) => `sendgrid refused ${secret}`,
  },
  { form: 'a token of Vault', make: ofLength(24, 'hvs.'), write: (secret) => `permission denied for ${secret}` },
  {
    form: 'a token of DigitalOcean',
    make: ofLength(64, 'dop_v1_', hex),
    write: (secret) => `doctl: ${secret} unauthorized`,
  },
  { form: 'a line of netrc', make: password, write: (secret) => `machine git.example login ci password ${secret}` },
  { form: 'a connect text of Oracle', make: plainWord, write: (secret) => `sqlplus -s scott/${secret}@ORCL @job.sql` },
  { form: 'a database address of Go', make: password, write: (secret) => `dial app:${secret}@tcp(db03:3306)/shop` },
  {
    form: 'a password with brackets',
    make: (seed) => `(${plainWord(seed)})[`,
    write: (secret) => `password=a${secret}`,
  },
  { form: 'a bytes value of Python', make: password, write: (secret) => `connect(password=b'${secret}')` },
  { form: 'a variable of a container', make: plainWord, write: (secret) => `{"name":"DB_TOKEN","value":"${secret}"}` },
  { form: 'a secure string', make: password, write: (secret) => `ConvertTo-SecureString "${secret}" -AsPlainText` },
  { form: 'an argument of keytool', make: password, write: (secret) => `keytool -list -storepass ${secret}` },
  { form: 'a user of Samba', make: password, write: (secret) => `winexe -U corp/deploy%${secret} //db03 cmd` },
  { form: 'a short name', make: password, write: (secret) => `dbpass=${secret} userPass: ${secret}` },
  {
    form: 'an address of a Teams webhook',
    make: (seed) => `${toWord(seed, 12)}-aaaa@${toWord(seed + 1, 12)}/IncomingWebhook/${toWord(seed + 2, 9)}`,
    write: (secret) => `POST https://corp.webhook.office.com/webhookb2/${secret} 404`,
  },
  { form: 'a very long random word', make: ofLength(9000), write: (secret) => `keystore: ${secret}` },
  {
    form: 'a very long value',
    make: plainWord,
    write: (secret) => `{"password": "${'correct horse '.repeat(60)}${secret}"}`,
  },
  {
    form: 'a private key of SSH2',
    make: (seed) => `${toWord(seed, 30)}\n${toWord(seed + 1, 30)}`,
    write: (secret) =>
      `---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n${secret}\n---- END SSH2 ENCRYPTED PRIVATE KEY ----`,
  },
  {
    form: 'a private key',
    make: (seed) => `${toWord(seed, 64)}\n${toWord(seed + 1, 64)}`,
    write: (secret) => `-----BEGIN RSA PRIVATE KEY-----\n${secret}\n-----END RSA PRIVATE KEY-----`,
  },
  {
    form: 'a private key in one line',
    make: ofLength(200),
    write: (secret) => String.raw`"key": "-----BEGIN PRIVATE KEY-----\n${secret}\n-----END PRIVATE KEY-----\n"`,
  },
  { form: 'a PIN', make: (seed) => toWord(seed, 6, '0123456789'), write: (secret) => `unlock: pin=${secret} slot=2` },
  { form: 'a hash of a password', make: ofLength(60, '$2y$10$'), write: (secret) => `deploy:${secret}:19000:0:` },
  ...written.map((line) => ({
    form: line,
    make: (seed: number) => `Zq7${password(seed)}`,
    write: (secret: string) => line.replaceAll('SECRET', secret),
  })),
];
