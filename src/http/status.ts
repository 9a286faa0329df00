/** Whether a server answers and takes the credentials, as its vital polls see it. */
export type ServerState = 'up' | 'refused' | 'down' | 'waiting';

export type CollectorStatus = {
  readonly name: string;
  readonly result: 'success' | 'failed' | 'off' | 'waiting';
  /** What kind of fault it is, or why it is off. */
  readonly reason: string | undefined;
  /** What went wrong, or what a success left out. */
  readonly message: string | undefined;
  readonly everyMs: number;
  readonly isUnderWay: boolean;
  readonly sinceMs: number | undefined;
  readonly lastRunAtMs: number | undefined;
  readonly lastSuccessAtMs: number | undefined;
  readonly nextRunAtMs: number | undefined;
  readonly tookMs: number | undefined;
  readonly series: number | undefined;
};

/** One address that is watched: a server, or a member of its cluster. */
export type TargetStatus = {
  readonly name: string;
  readonly url: string;
  readonly state: ServerState;
  readonly sinceMs: number | undefined;
  readonly message: string | undefined;
  readonly release: string | undefined;
  readonly apiVersion: number | undefined;
  readonly dialect: string | undefined;
  readonly executionMode: string | undefined;
  readonly executionModeSinceMs: number | undefined;
  readonly collectors: readonly CollectorStatus[];
};

export type ServerStatus = TargetStatus & {
  readonly members: readonly TargetStatus[];
  /** Whether members that configuration does not name answer in turn. */
  readonly hidesMembers: boolean;
  /** The access policy that allows what is denied. */
  readonly missingPolicy: string | undefined;
};

export type Status = {
  readonly version: string;
  readonly atMs: number;
  readonly servers: readonly ServerStatus[];
};
