import type { QuarantinedTrace, SpooledTrace, SpoolSize } from '../../state/spool.ts';
import type { PostFaultKind } from './post-fault.ts';

/** The reasons for which spans did not reach the backend. */
export type RejectReason = 'partial_success' | 'refused' | 'unanswered' | 'dropped';

/** The ways a request ends: with an answer, or with the fault in place of one. */
export type RequestOutcome = 'delivered' | 'wait' | 'refused' | PostFaultKind;

/** Notified of events of the sender, for metrics and the log; each callback reports one event. */
export type SenderObserver = {
  readonly exported: (spans: number) => void;
  /** Refused and unanswered traces are quarantined and may be sent again; dropped ones were quarantined and are gone. */
  readonly rejected: (reason: RejectReason, spans: number) => void;
  /** Called when the trace backend accepted the request with a warning. */
  readonly warned: (message: string) => void;
  readonly quarantine: (
    trace: Pick<SpooledTrace, 'server' | 'executionId'>,
    reason: string,
    why: 'refused' | 'unanswered',
  ) => void;
  readonly dropped: (trace: QuarantinedTrace) => void;
  readonly request: (outcome: RequestOutcome, seconds: number) => void;
  /** Once when deliveries begin to fail, once when they work again. */
  readonly failing: (reason: string) => void;
  readonly recovered: () => void;
  readonly size: (size: SpoolSize) => void;
};
