import { z } from 'zod';
import { defineEndpoint, largeListBytes } from '../endpoint.ts';
import { list, text } from '../lenient.ts';

const jobsOfMember = {
  since: 17,
  maxBytes: largeListBytes,
  allowedBy: [{ type: 'job', allow: 'read' }],
  // Jobs that the token may not see are silently missing.
  body: list(z.object({ serverNodeUUID: text })),
} as const;

/** API reference, "Cluster schedule": the jobs in all projects whose schedule the answering member owns. */
export const ownJobs = defineEndpoint({ name: 'cluster-own-jobs', path: 'scheduler/jobs', ...jobsOfMember });

/** The same for one member, whichever member answers; an unknown one owns nothing. */
export const memberJobs = defineEndpoint({
  name: 'cluster-member-jobs',
  path: 'scheduler/server/{uuid}/jobs',
  ...jobsOfMember,
});
