/** A step as its job defines it; never its command or script, which may hold secrets. */
export type WorkflowStep = {
  readonly kind: 'command' | 'script' | 'plugin' | 'reference';
  readonly description: string | undefined;
  /** The plugin's type, or the name of the referenced job. */
  readonly target: string | undefined;
  readonly isNodeStep: boolean;
  readonly jobId: string | undefined;
  /** The steps of the referenced job; each job is expanded once, wherever that is. */
  readonly workflow: readonly WorkflowStep[] | undefined;
  readonly handler: WorkflowStep | undefined;
};
