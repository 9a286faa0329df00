import { wholeNumber } from '../values/number.ts';
import { databaseHost, hostName, pemFile, plainName, schemaName, userName } from '../values/texts.ts';
import { boolean, path } from '../values/value-type.ts';
import { type OptionTree, option, optional, untilRestart } from './option.ts';

export const postgresOptions = {
  host: untilRestart(
    optional(
      databaseHost(),
      'Host of the PostgreSQL that keeps the state instead of state.dir, so that several replicas can share it.',
    ),
  ),
  url_file: untilRestart(
    optional(
      path('/run/secrets/database-url'),
      'File with the URL of that PostgreSQL instead of host, as postgresql://USER:PASSWORD@HOST:PORT/DATABASE; other options give the parts that it lacks. It is read again for each new connection.',
    ),
  ),
  port: untilRestart(option(wholeNumber({ min: 1, max: 65_535 }), 5432, 'Port of the database server.')),
  database: untilRestart(option(plainName(), 'automation_exporter', 'Name of the database.')),
  user: untilRestart(option(userName(), 'automation_exporter', 'User of the database.')),
  password_file: untilRestart(
    optional(
      path('/run/secrets/database-password'),
      'File with the password of the user; it is read again for each new connection.',
    ),
  ),
  schema: untilRestart(
    option(schemaName(), 'automation_exporter', 'Schema of the tables, which is created if it is missing.'),
  ),
  connections: untilRestart(
    option(
      wholeNumber({ min: 2, max: 100 }),
      8,
      'Maximum number of connections for the state; leases have up to 4 more.',
    ),
  ),
  tls: {
    disable: untilRestart(
      option(
        boolean,
        false,
        'Connect without TLS; anyone between exporter and database can then read and change the state.',
      ),
    ),
    ca_file: untilRestart(
      optional(pemFile(), 'File with certificate authorities to trust in addition to those of the system.'),
    ),
    cert_file: untilRestart(optional(pemFile(), 'File with the client certificate.')),
    key_file: untilRestart(optional(pemFile(), 'File with the private key of the client certificate.')),
    server_name: untilRestart(optional(hostName(), 'Expected name in the certificate of the database.')),
  },
} as const satisfies OptionTree;
