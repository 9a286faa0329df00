export type DialectName = 'service' | 'rundeck';

export type Dialect = {
  readonly name: DialectName;
  readonly headerPrefix: string;
  readonly infoMember: string;
  readonly storagePrefix: string;
  readonly metricPrefix: string;
};

/** The names that differ between the neutral documents and the rundeck dialect. */
export const dialects: Readonly<Record<DialectName, Dialect>> = {
  service: {
    name: 'service',
    headerPrefix: 'X-Service',
    infoMember: 'service',
    storagePrefix: 'Service',
    metricPrefix: 'service',
  },
  rundeck: {
    name: 'rundeck',
    headerPrefix: 'X-Rundeck',
    infoMember: 'rundeck',
    storagePrefix: 'Rundeck',
    metricPrefix: 'rundeck',
  },
};
