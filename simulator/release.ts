/** One server release: its API versions, and its differences from other releases. */
export type Release = {
  readonly name: string;
  readonly apiVersion: number;
  readonly oldestVersion: number;
  /** True if `apiversion` and `executions.active` of system/info are text. */
  readonly infoAsText: boolean;
  /** True if callers without system read get system/info with null members instead of 403. */
  readonly infoForAll: boolean;
  readonly uptimeWraps: boolean;
  readonly loadAverage: 'load' | 'fraction' | 'integer';
  readonly metrics: 'servlet' | 'controller';
  readonly metricsOn: boolean;
  /** True if the size of the scheduler's thread pool is a gauge. */
  readonly poolGauge: boolean;
  /** True if errors are XML unless an Accept header requests JSON. */
  readonly xmlByDefault: boolean;
  /** True if the `unauthorized` error is XML unless JSON is requested. */
  readonly xmlUnauthorized: boolean;
  readonly errorArguments: boolean;
  readonly disabledProjects: boolean;
  readonly tieOrder: 'start' | 'id';
  readonly executionSummaryOnDemand: boolean;
  readonly jobDeletedFlag: boolean;
  /** True if executions/metrics has the succeeded and failed executions in a map; later releases have them beside the total. */
  readonly metricsStatus: boolean;
  readonly metricsCounts: boolean;
  readonly metricsChecked: boolean;
  /** The rights on a job that show its executions in the history; any one of them is enough. */
  readonly rowsFor: readonly JobRight[];
  /** The forms for several projects that the list of running executions accepts: `*`, or names with commas. */
  readonly runningOf: readonly ('*' | ',')[];
  /** True if `*` is refused in the middle of the response when the events of a project cannot be read. */
  readonly refusesStar: boolean;
  /** True if the project `*` causes a server error. */
  readonly failsOverStar: boolean;
  /** True if the session cookie of a request has precedence over its token. */
  readonly prefersSession: boolean;
  /** True if the default SSH executor reports every failure with the same word, so that only exit codes differ. */
  readonly failsUnknown: boolean;
  /** True if the inner steps of a conditional step are its children; in other releases they replace it. */
  readonly nestsConditions: boolean;
  readonly fractionalDates: boolean;
  /** True if callers can ask for their rights. */
  readonly authorizations: boolean;
  /** The HTTP server of the release refuses empty segments in paths, and some characters even if encoded. */
  readonly refusesOddPaths: boolean;
  /** True if the release follows the documents where real servers differ: step durations, workflow keys, rules for tokens. */
  readonly asDocumented: boolean;
};

/** A right on a job that shows executions of the job. */
export type JobRight = 'read' | 'view' | 'view_history';

/** Returns the release whose newest version is `apiVersion`, or the named release. */
export function findRelease(dialect: DialectName, apiVersion: number, name?: string): Release {
  const row = releases.find(([version, release]) => (name === undefined ? version === apiVersion : release === name));
  if (row === undefined) {
    const known = [...new Set(releases.map(([version]) => version))].join(', ');
    throw new Error(
      `No release to play for API version ${apiVersion}${name === undefined ? '' : ` or name ${name}`}. Known ones: ${known}.`,
    );
  }
  return dialect === 'service' ? asDocumented(row) : asReal(row);
}

type Row = readonly [apiVersion: number, name: string];

// Names below 3.0.0 are approximate. The usual release of an API version comes first; 6.2.0 stands for later releases.
const releases = `
  14 2.6.2, 15 2.6.4, 16 2.6.5, 17 2.6.7, 18 2.6.9, 19 2.8.0, 20 2.8.1, 21 2.9.0, 22 2.10.0, 23 2.10.4,
  24 2.11.0, 25 3.0.0, 26 3.0.1, 27 3.0.6, 28 3.0.8, 29 3.0.13, 30 3.0.17, 31 3.0.21, 32 3.1.0, 33 3.1.2,
  34 3.2.0, 35 3.3.0, 36 3.3.3, 37 3.3.8, 38 3.3.10, 39 3.4.0, 40 3.4.4, 41 4.8.0, 41 4.3.0, 41 4.1.0,
  41 4.0.0, 42 4.9.0, 43 4.10.0, 44 4.11.0, 45 4.17.0, 45 4.14.0, 46 5.0.0, 47 5.3.0, 58 6.0.0, 58 5.20.0, 59 6.1.0, 59 6.2.0
`
  .split(',')
  .map((row): Row => {
    const [apiVersion, name = ''] = row.trim().split(' ');
    return [Number(apiVersion), name];
  });

function asReal([apiVersion, name]: Row): Release {
  const [major = 0, minor = 0] = name.split('.').map(Number);
  const from = (wantedMajor: number, wantedMinor = 0) =>
    major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
  return {
    name,
    apiVersion,
    oldestVersion: from(5) ? 14 : from(3, 4) ? 11 : 1,
    infoAsText: from(4, 3),
    infoForAll: from(4, 4),
    uptimeWraps: from(4, 3),
    loadAverage: from(4, 3) ? 'integer' : from(4, 1) ? 'fraction' : 'load',
    metrics: from(6) ? 'controller' : 'servlet',
    metricsOn: !from(6),
    poolGauge: from(5, 20),
    xmlByDefault: !from(3, 4),
    xmlUnauthorized: !from(4),
    errorArguments: from(6),
    disabledProjects: from(4),
    tieOrder: from(6) ? 'id' : 'start',
    executionSummaryOnDemand: from(6),
    jobDeletedFlag: from(6),
    metricsStatus: apiVersion === 29 || apiVersion === 30,
    metricsCounts: from(5, 20),
    metricsChecked: from(6, 2),
    rowsFor: from(6, 2) ? ['read', 'view_history', 'view'] : from(6, 1) ? ['read', 'view_history'] : ['read'],
    runningOf: !from(4, 14) || from(5, 2) ? ['*', ','] : from(5) ? ['*'] : [],
    refusesStar: from(4),
    failsOverStar: name === '3.3.0',
    prefersSession: !from(6),
    failsUnknown: from(4, 16),
    nestsConditions: from(6),
    authorizations: from(5, 9),
    fractionalDates: major === 6 && minor === 0,
    refusesOddPaths: from(6),
    asDocumented: false,
  };
}

function asDocumented([apiVersion, name]: Row): Release {
  return {
    ...asReal([apiVersion, name]),
    oldestVersion: apiVersion >= 46 ? 14 : apiVersion >= 39 ? 11 : 1,
    infoAsText: false,
    infoForAll: false,
    uptimeWraps: false,
    loadAverage: 'load',
    metrics: 'servlet',
    metricsOn: true,
    xmlByDefault: apiVersion < 39,
    xmlUnauthorized: apiVersion < 39,
    errorArguments: false,
    executionSummaryOnDemand: false,
    jobDeletedFlag: false,
    metricsStatus: false,
    metricsCounts: false,
    failsUnknown: false,
    rowsFor: ['read'],
    runningOf: ['*', ','],
    refusesStar: false,
    failsOverStar: false,
    prefersSession: false,
    poolGauge: false,
    fractionalDates: false,
    refusesOddPaths: false,
    asDocumented: true,
  };
}

export type DialectName = 'service' | 'rundeck';

export type Dialect = ReturnType<typeof toDialect>;

/** The names in which the neutral documents and the rundeck dialect differ. */
export const dialects: Readonly<Record<DialectName, Dialect>> = {
  service: toDialect('service', 'Service'),
  rundeck: toDialect('rundeck', 'Rundeck'),
};

function toDialect(name: DialectName, title: string) {
  return { name, headerPrefix: `X-${title}`, infoMember: name, storagePrefix: title, metricPrefix: name };
}
