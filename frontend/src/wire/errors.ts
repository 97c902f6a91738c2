/** What can go wrong between the event file and the tab, told in sentences. */

/** A record or answer that can't be used: `message` says what is wrong, `wayOut` what to do. */
export class RecordError extends Error {
  constructor(
    message: string,
    readonly wayOut: string,
  ) {
    super(message);
    this.name = 'RecordError';
  }
}
