/** Reports whether a stored document of executions has the expected shape. Other rooms check their own documents. */
export function isSoundDocument(kind: string, body: unknown): boolean {
  const shapes = shapesByKind.get(kind);
  return shapes === undefined || shapes.some((shape) => shape(body));
}

type Shape = (value: unknown) => boolean;

const isText: Shape = (value) => typeof value === 'string';
const isNumber: Shape = (value) => typeof value === 'number';
/** JSON has null for an infinite time. */
const isTime: Shape = (value) => value === null || isNumber(value);
const isBoolean: Shape = (value) => typeof value === 'boolean';

function isListOf(item: Shape): Shape {
  return (value) => Array.isArray(value) && value.every(item);
}

function isOptional(shape: Shape): Shape {
  return (value) => value === undefined || shape(value);
}

/** List only fields that no later release may leave out; additional fields are accepted. */
function isRecordOf(fields: Readonly<Record<string, Shape>>): Shape {
  const entries = Object.entries(fields);
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    // The cast is true: any object has fields of unknown values.
    const record = value as Readonly<Record<string, unknown>>;
    return entries.every(([name, shape]) => shape(record[name]));
  };
}

const isRun = isRecordOf({ id: isNumber, project: isText, name: isText, startedAtMs: isTime, endedAtMs: isTime });

const isWindow = isRecordOf({ beginMs: isNumber, endMs: isNumber });

const shapesByKind: ReadonlyMap<string, readonly Shape[]> = new Map([
  [
    'server',
    [
      isRecordOf({
        epoch: isNumber,
        epochStartedAtMs: isTime,
        oneTimeIds: isOptional(isListOf(isNumber)),
        buckets: isOptional(isListOf(isNumber)),
        leap: isOptional(isWindow),
        skewMs: isOptional(isNumber),
        countedSinceMs: isOptional(isNumber),
        reachedMs: isOptional(isNumber),
        slowClocks: isOptional(isListOf(isRecordOf({ byMs: isNumber, seenAtMs: isNumber }))),
      }),
    ],
  ],
  [
    'project',
    [
      isRecordOf({
        project: isText,
        countedFromMs: isTime,
        scannedThroughMs: isTime,
        comparedWeekAtMs: isOptional(isNumber),
        aheadThroughMs: isOptional(isNumber),
        againFromMs: isOptional(isNumber),
        backlog: isOptional(isListOf(isWindow)),
        skips: isOptional(isListOf(isWindow)),
        earlier: isOptional(isRecordOf({ untilMs: isTime, throughId: isNumber })),
      }),
    ],
  ],
  [
    'cell',
    [
      isRecordOf({
        kind: isText,
        labels: isListOf(isText),
        count: isNumber,
        sumSeconds: isOptional(isNumber),
        buckets: isOptional(isListOf(isNumber)),
        native: isOptional(isRecordOf({ schema: isNumber, zeros: isNumber, buckets: isListOf(isNumber) })),
        before: isOptional(isRecordOf({ counts: isListOf(isNumber), sum: isNumber, count: isNumber })),
        isReleased: isBoolean,
      }),
    ],
  ],
  ['job', [isRecordOf({ project: isText, group: isText, name: isText, lastEndMs: isTime, lastId: isNumber })]],
  ['id-hour', [isRecordOf({ hour: isNumber, leastId: isOptional(isNumber), greatestId: isOptional(isNumber) })]],
  ['failure', [isRecordOf({ project: isText, group: isText, name: isText, failureClass: isOptional(isText) })]],
  // Older releases kept each run in a document of its own.
  ['recent', [isListOf(isRun), isRun]],
]);
