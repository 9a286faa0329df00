/** The pages that every page leads to, in this order. */
export const sections = [
  { path: '', name: 'Status' },
  { path: 'executions', name: 'Executions' },
  { path: 'jobs', name: 'Jobs' },
  { path: 'schedule', name: 'Schedule' },
  { path: 'traces', name: 'Traces' },
  { path: 'runbooks/', name: 'Runbooks' },
  { path: 'dashboards/', name: 'Dashboards' },
  { path: 'reference', name: 'Metrics' },
  { path: 'config', name: 'Configuration' },
] as const;

/** Returns the section that a page below the route prefix belongs to; undefined if to none. */
export function findSection(path: string): string | undefined {
  const [, first = ''] = path.split('/');
  return sections.find((section) => section.path.replace('/', '') === first)?.name;
}
