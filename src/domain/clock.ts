/** The two clocks of the process, both in ms. */
export type Clock = {
  /** Since 1970, as people tell time; it can be set, forwards and backwards. */
  readonly now: () => number;
  /** Since some moment; it only ever goes forwards. What lasts is measured with this one. */
  readonly ticks: () => number;
};
