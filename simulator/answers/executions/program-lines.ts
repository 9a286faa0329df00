import type { Random } from '../../random.ts';
import { morePrograms } from './more-programs.ts';

/** Lines of failing programs, with places for values. `{secret}` stands for a password or a token. */
export const programs: readonly string[] = [
  ...morePrograms,
  // Shells and tools.
  'bash: line {n}: {word}: command not found',
  '/tmp/{hex}-dispatch-script.tmp.sh: line {n}: {word}: No such file or directory',
  '/var/lib/{word}/{word}-{n}.sh: Permission denied',
  'cp: cannot create regular file ‘{path}’: No space left on device',
  'mv: cannot stat ‘{path}’: No such file or directory',
  'rm: cannot remove ‘{path}’: Device or resource busy',
  'mkdir: cannot create directory ‘{path}’: Read-only file system',
  'tar: {path}: Cannot open: No such file or directory\ntar: Error is not recoverable: exiting now',
  'gzip: {path}: unexpected end of file',
  'mount.nfs: Connection timed out for {host}:/export/{word}',
  'sudo: a password is required',
  'sudo: {user} is not in the sudoers file. This incident will be reported.',
  'find: ‘{path}’: Input/output error',
  'Killed process {n} ({word}) total-vm:{n}kB, anon-rss:{n}kB',
  '+ export DB_PASSWORD={secret}\n+ ./run-{word}.sh\nrun-{word}.sh: exit {n}',
  'flock: failed to get lock on /var/lock/{word}.lock',
  'crontab: user ‘{user}’ unknown',
  'timeout: sending signal TERM to command ‘{word}’',
  // SSH and copies.
  'ssh: connect to host {host} port 22: Connection timed out',
  'ssh: connect to host {host} port 22: Connection refused',
  'ssh: connect to host {host} port {n}: No route to host',
  'ssh: Could not resolve hostname {host}: Name or service not known',
  '{user}@{host}: Permission denied (publickey,password).',
  'Host key verification failed.\nREMOTE HOST IDENTIFICATION HAS CHANGED for {host}',
  'kex_exchange_identification: Connection closed by remote host\nConnection closed by {ip} port 22',
  'client_loop: send disconnect: Broken pipe',
  'scp: {path}: No such file or directory',
  'Too many authentication failures for {user} from {ip}',
  'rsync: [sender] link_stat "{path}" failed: No such file or directory (2)\nrsync error: some files could not be transferred (code 23) at main.c({n}) [sender=3.2.7]',
  'rsync: connection unexpectedly closed ({n} bytes received so far) [sender]\nrsync error: unexplained error (code 255) at io.c({n}) [sender=3.2.7]',
  'rsync: write failed on "{path}": No space left on device (28)',
  // HTTP.
  'curl: (6) Could not resolve host: {host}',
  'curl: (7) Failed to connect to {host} port {n} after {n} ms: Connection refused',
  'curl: (22) The requested URL returned error: 503',
  'curl: (28) Operation timed out after {n} milliseconds with 0 bytes received',
  'curl: (35) TLS connect error: error:0A000126:SSL routines::unexpected eof while reading',
  'curl: (60) SSL certificate problem: certificate has expired',
  '> Authorization: Bearer {secret}\n< HTTP/1.1 401 Unauthorized\ncurl: (22) The requested URL returned error: 401',
  'wget: unable to resolve host address ‘{host}’',
  '{time} ERROR 404: Not Found.',
  'fatal: unable to access https://{user}:{secret}@{host}/{word}.git/: The requested URL returned error: 403',
  'fatal: repository ‘{path}’ does not exist',
  'error: failed to push some refs to ‘{host}:{word}.git’\nhint: Updates were rejected because the remote contains work',
  'fatal: could not read Username for ‘https://{host}’: terminal prompts disabled',
  // Databases.
  'psql: error: connection to server at "{host}" ({ip}), port 5432 failed: FATAL: password authentication failed for user "{user}"',
  'psql: error: connection to server at "{host}" ({ip}), port 5432 failed: Connection refused',
  'ERROR: duplicate key value violates unique constraint "{word}_pkey"\nDETAIL: Key (id)=({n}) already exists.',
  'ERROR: deadlock detected\nDETAIL: Process {n} waits for ShareLock on transaction {n}; blocked by process {n}.',
  'ERROR: relation "{word}" does not exist at character {n}',
  'ERROR: canceling statement due to statement timeout',
  'pg_dump: error: query failed: ERROR: permission denied for table {word}',
  'FATAL: sorry, too many clients already',
  'ERROR 1045 (28000): Access denied for user "{user}"@"{ip}" (using password: YES)',
  'ERROR 2003 (HY000): Can’t connect to MySQL server on "{host}:3306" (111)',
  'ERROR 1213 (40001): Deadlock found when trying to get lock; try restarting transaction',
  '+ mysqldump -u root -p{secret} {word}\nmysqldump: Got error: 1049: Unknown database "{word}" when selecting the database',
  'ORA-01017: invalid username/password; logon denied',
  'ORA-12541: TNS:no listener',
  'ORA-00942: table or view does not exist',
  'ORA-01653: unable to extend table {word} by {n} in tablespace USERS',
  'sqlplus {user}/{secret}@{word} @{word}.sql\nSP2-0306: Invalid option.',
  'Msg 18456, Level 14, State 1, Server {host}, Line 1\nLogin failed for user "{user}".',
  'MongoServerError: not primary and secondaryOk=false on {host}:27017',
  'Could not connect to Redis at {host}:6379: Connection refused',
  '(error) WRONGPASS invalid username-password pair or user is disabled.',
  // Ansible.
  'fatal: [{host}]: UNREACHABLE! => {"changed": false, "msg": "Failed to connect to the host via ssh", "unreachable": true}',
  'fatal: [{host}]: FAILED! => {"changed": false, "msg": "No package matching {word} found available, installed or updated"}',
  'fatal: [{host}]: FAILED! => {"changed": true, "cmd": ["/opt/{word}/migrate"], "rc": 1, "stderr": "{word}"}',
  'ERROR! the role "{word}" was not found in /etc/ansible/roles',
  'ERROR! Attempting to decrypt but no vault secrets found',
  'ERROR! couldn’t resolve module/action "{word}". This often indicates a misspelling.',
  'fatal: [{host}]: FAILED! => {"msg": "Missing sudo password"}',
  '{host} : ok={n} changed={n} unreachable=0 failed=1 skipped={n}',
  // Java.
  'Exception in thread "main" java.lang.NullPointerException\n\tat com.example.{word}.Main.run(Main.java:{n})\n\tat com.example.{word}.Main.main(Main.java:{n})',
  '{time} [pool-{n}-thread-{n}] ERROR c.e.Batch - job {uuid} failed\njava.sql.SQLTransientConnectionException: HikariPool-{n} - Connection is not available, request timed out after {n}ms.',
  'java.lang.OutOfMemoryError: Java heap space\n\tat java.base/java.util.Arrays.copyOf(Arrays.java:{n})',
  'java.net.UnknownHostException: {host}\n\tat java.base/java.net.InetAddress.getAllByName0(InetAddress.java:{n})',
  'org.springframework.beans.factory.BeanCreationException: Error creating bean with name "{word}"',
  'Caused by: javax.net.ssl.SSLHandshakeException: PKIX path building failed',
  'java.io.FileNotFoundException: {path} (No such file or directory)',
  'java.util.concurrent.TimeoutException: no answer within {n} ms',
  'spring.datasource.password={secret}\nAPPLICATION FAILED TO START',
  'Error: Unable to access jarfile {path}',
  '[ERROR] Failed to execute goal on project {word}: Could not resolve dependencies',
  // Python.
  'Traceback (most recent call last):\n  File "{path}", line {n}, in <module>\n    main()\nKeyError: "{word}"',
  'Traceback (most recent call last):\n  File "{path}", line {n}, in run\nModuleNotFoundError: No module named "{word}"',
  'requests.exceptions.ConnectionError: HTTPSConnectionPool(host="{host}", port=443): Max retries exceeded',
  'requests.exceptions.HTTPError: 401 Client Error for url: https://{host}/v1?access_token={secret}',
  'psycopg2.OperationalError: FATAL: the database system is starting up',
  'ValueError: could not convert string to float: "{word}"',
  'UnicodeDecodeError: "utf-8" codec can’t decode byte {hexbyte} in position {n}: invalid start byte',
  'botocore.exceptions.ClientError: An error occurred (AccessDenied) when calling the PutObject operation: Access Denied',
  'botocore.exceptions.NoCredentialsError: Unable to locate credentials',
  'MemoryError: unable to allocate {n} bytes',
  // Other languages.
  'Error: Cannot find module "{word}"\n    at Module._resolveFilename (node:internal/modules/loader:{n}:{n})',
  'SyntaxError: Unexpected token } in JSON at position {n}',
  'Error: connect ECONNREFUSED {ip}:{n}',
  'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory',
  'panic: runtime error: index out of range [{n}] with length {n}\n\ngoroutine {n} [running]:',
  'PHP Fatal error:  Uncaught PDOException: could not find driver in {path}:{n}',
  'Could not locate Gemfile or .bundle/ directory',
  'Unhandled exception. System.IO.IOException: The process cannot access the file because it is being used by another process.',
  // Packages and hosts.
  'E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process {n} (apt-get)',
  'E: Unable to locate package {word}',
  'E: Failed to fetch http://{host}/pool/main/{word}_{n}_amd64.deb  404  Not Found [IP: {ip} 80]',
  'Error: Failed to download metadata for repo "{word}": Cannot download repomd.xml',
  'npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree',
  'npm ERR! 401 Unauthorized - GET https://{host}/{word} with _authToken={secret}',
  'ERROR: Could not find a version that satisfies the requirement {word}',
  'Job for {word}.service failed because the control process exited with error code.',
  'Failed to restart {word}.service: Unit {word}.service not found.',
  'kernel: EXT4-fs error (device sd{letter}1): ext4_lookup: deleted inode referenced: {n}',
  // Containers and clouds.
  'Error response from daemon: manifest for {host}/{word}:{n} not found: manifest unknown',
  'Error response from daemon: Get "https://{host}/v2/": unauthorized: authentication required',
  'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?',
  'Error from server (Forbidden): pods is forbidden: User "{user}" cannot list resource "pods" in API group ""',
  'Error from server (NotFound): deployments.apps "{word}" not found',
  'error: timed out waiting for the condition on deployments/{word}',
  'Unable to connect to the server: x509: certificate has expired or is not yet valid: current time {time}',
  'Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress',
  'Error: error acquiring the state lock: ConditionalCheckFailedException\nLock Info:\n  ID: {uuid}',
  'Error: creating EC2 Instance: InsufficientInstanceCapacity: request id: {uuid}',
  'An error occurred (ExpiredToken) when calling the AssumeRole operation: aws_secret_access_key = {secret}',
  'ERROR: (gcloud.compute.ssh) Could not fetch resource: Quota exceeded for project {word}',
  'vault: Error making API request. Code: 403. X-Vault-Token: {secret} permission denied',
  // Messages of a site's own programs.
  '{time} ERROR settlement {n} for {user} was not booked',
  '{time} CRITICAL backup of {path} incomplete: {n} of {n} files',
  'import of {word}.csv stopped at row {n}: column amount is no number',
  'replication lag on {host} is {n} s, limit exceeded',
  'checksum of {path} differs: expected {hex}, found {hex}',
  '{"level":"error","ts":"{time}","msg":"consumer lag too high","partition":{n},"lag":{n}}',
  '{"level":"error","ts":"{time}","msg":"cannot renew certificate","serial":"{hex}"}',
  'disk usage of /var on {host} is {n}%, nothing was copied',
  'license server {host} gave no seat to {user}',
  'smoke test {word} failed: expected 200, got 502',
];

/** Fills the places of a template. The same random numbers give the same lines. */
export function writeProgram(template: string, random: Random, secret: string): readonly string[] {
  const values = createValues(random);
  const filled = template.replaceAll(/\{([a-z]+)\}/g, (place, name: string) =>
    name === 'secret' ? secret : (values[name]?.() ?? place),
  );
  return filled.split('\n');
}

function createValues(random: Random): Readonly<Record<string, () => string>> {
  const below = (count: number): number => Math.floor(random() * count);
  const pick = (words: readonly string[]): string => words[below(words.length)] ?? '';
  const hex = (length: number): string => Array.from({ length }, () => below(16).toString(16)).join('');
  const two = (count: number): string => String(below(count)).padStart(2, '0');
  const word = (): string => `${pick(words)}${pick(['-', '_'])}${below(100)}`;
  return {
    n: () => String(1 + below(10 ** (1 + below(5)))),
    word,
    user: () => pick(['deploy', 'alice', 'svc-batch', 'bob', 'rundeck', 'app_ro']),
    host: () => `${pick(words)}${two(40)}.${pick(['example', 'internal', 'corp.example'])}`,
    ip: () => `10.${below(256)}.${below(256)}.${1 + below(254)}`,
    path: () =>
      `/${pick(['srv', 'data', 'opt', 'home'])}/${pick(words)}/${below(3000)}/${word()}.${pick(['csv', 'gz', 'py', 'xml'])}`,
    time: () =>
      `2026-${two(9).replace('00', '10')}-${String(1 + below(28)).padStart(2, '0')} ${two(24)}:${two(60)}:${two(60)}`,
    uuid: () => [8, 4, 4, 4, 12].map(hex).join('-'),
    hex: () => hex(12 + below(20)),
    hexbyte: () => `0x${hex(2)}`,
    letter: () => pick(['a', 'b', 'c']),
  };
}

const words = ['orders', 'settle', 'ledger', 'stock', 'billing', 'invoice', 'report', 'search', 'cache', 'mail'];
