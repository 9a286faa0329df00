import { wholeNumber } from '../values/number.ts';
import { databaseHost, hostName, path, pemFile, plainName, schemaName, userName } from '../values/texts.ts';
import { boolean } from '../values/value-type.ts';
import { type OptionTree, option, optional } from './option.ts';

export const postgresOptions = {
  host: optional(databaseHost).help(
    'Host of the PostgreSQL that keeps the state instead of state.dir, so that several replicas can share it.',
  ),
  url_file: optional(path('/run/secrets/database-url')).help(
    'File with the URL of that PostgreSQL instead of host, as postgresql://USER:PASSWORD@HOST:PORT/DATABASE; other options give the parts that it lacks. It is read again for each new connection.',
  ),
  port: option(wholeNumber(1, 65_535), 5432).help('Port of the database server.'),
  database: option(plainName, 'automation_exporter').help('Name of the database.'),
  user: option(userName, 'automation_exporter').help('User of the database.'),
  password_file: optional(path('/run/secrets/database-password')).help(
    'File with the password of the user; it is read again for each new connection.',
  ),
  schema: option(schemaName, 'automation_exporter').help('Schema of the tables, which is created if it is missing.'),
  connections: option(wholeNumber(2, 100), 8).help(
    'Maximum number of connections for the state; leases have up to 4 more.',
  ),
  tls: {
    disable: option(boolean, false).help(
      'Connect without TLS; anyone between exporter and database can then read and change the state.',
    ),
    ca_file: optional(pemFile).help('File with certificate authorities to trust in addition to those of the system.'),
    cert_file: optional(pemFile).help('File with the client certificate.'),
    key_file: optional(pemFile).help('File with the private key of the client certificate.'),
    server_name: optional(hostName).help('Expected name in the certificate of the database.'),
  },
} as const satisfies OptionTree;
