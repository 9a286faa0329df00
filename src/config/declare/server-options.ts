import { pattern, patternList } from '../patterns/pattern.ts';
import { proxyAddress, webAddress } from '../values/address.ts';
import { duration } from '../values/duration.ts';
import { mapList } from '../values/lists.ts';
import { labels } from '../values/maps.ts';
import { autoOrNumber, number, wholeNumber } from '../values/number.ts';
import { hostName, namespace, passwordFile, pemFile, secretFile, serverName, userName } from '../values/texts.ts';
import { boolean, choice } from '../values/value-type.ts';
import { type OptionTree, option, optional, required } from './option.ts';

const projectLabels = mapList(
  { match: pattern.schema, labels: labels.schema },
  { takes: 'a list of patterns with labels', example: '[{ match: "pay-.*", labels: { team: payments } }]', unique: [] },
);

const members = mapList(
  { name: serverName.schema, url: webAddress.schema },
  { takes: 'a list of members', example: '[{ name: a, url: https://a.example.org }]', unique: ['name', 'url'] },
);

/** The options of one server. Each option has a variable for a single server, and no option has a flag. */
export const serverOptions = {
  name: option(serverName, 'default').help('Unique name of the server in labels and on pages.'),
  url: required(webAddress).help('URL of the server, without /api.'),
  token_file: optional(secretFile).help('File with the API token.'),
  username: optional(userName).help('User to log in as, for servers without an API token.'),
  password_file: optional(passwordFile).help('File with the password of the user.'),
  bearer_token_file: optional(secretFile).help('File with a bearer token of an identity provider.'),
  dialect: option(choice('auto', 'service', 'rundeck'), 'auto').help(
    'Names of the HTTP headers; auto detects them on first contact.',
  ),
  api_version: option(autoOrNumber(14, 99), 'auto').help(
    'API version to use; auto selects the newest that both sides support.',
  ),
  timeout: option(duration('100ms', '10m'), '10s').help('Timeout of a request, including its response.'),
  tls: {
    ca_file: optional(pemFile).help('File with certificate authorities to trust in addition to those of the system.'),
    cert_file: optional(pemFile).help('File with the client certificate.'),
    key_file: optional(pemFile).help('File with the private key of the client certificate.'),
    server_name: optional(hostName).help('Expected name in the certificate of the server.'),
    insecure_skip_verify: option(boolean, false).help(
      'Disable certificate validation; anyone between exporter and server can then read and change the traffic.',
    ),
  },
  proxy_url: optional(proxyAddress).help('URL of the proxy to use for the server.'),
  namespace: optional(namespace).help(
    'Text from which trace ids are computed; defaults to the url. Set a namespace to keep ids when the url changes.',
  ),
  budget: {
    requests_per_second: option(number(0.1, 1000), 10).help('Maximum number of requests per second.'),
    concurrency: option(wholeNumber(1, 100), 4).help('Maximum number of simultaneous requests.'),
  },
  labels: option(labels, {}).help(
    'Labels for every series of this server; in the environment variable, as site=eu,tier=1.',
  ),
  projects: {
    include: option(patternList, ['.*']).help('Patterns of projects to watch; all if empty.'),
    exclude: option(patternList, []).help('Patterns of projects not to watch; takes precedence over include.'),
    labels: option(projectLabels, []).help(
      'Labels on automation_project_info, each with match (a pattern of projects) and labels; in the environment variable, as JSON.',
    ),
  },
  members: option(members, []).help(
    'Members of the cluster, each with name and url, polled individually for metrics that differ by member; in the environment variable, as JSON.',
  ),
} as const satisfies OptionTree;
