import { z } from 'zod';
import { defineEndpoint, largeListBytes } from '../endpoint.ts';
import { list, text } from '../lenient.ts';

const jobsOfMember = {
  since: 17,
  maxBytes: largeListBytes,
  allowedBy: [{ type: 'job', allow: 'read' }],
  // Jobs that the token cannot see are missing without an error.
  body: list(z.object({ serverNodeUUID: text })),
} as const;

/** API reference, "Cluster schedule": the jobs of all projects that the responding member schedules. */
export const ownJobs = defineEndpoint({ name: 'cluster-own-jobs', path: 'scheduler/jobs', ...jobsOfMember });

/** The jobs that a given member schedules, whichever member responds. An unknown member has no jobs. */
export const memberJobs = defineEndpoint({
  name: 'cluster-member-jobs',
  path: 'scheduler/server/{uuid}/jobs',
  ...jobsOfMember,
});
