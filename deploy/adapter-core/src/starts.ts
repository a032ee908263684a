/** When an installation that does not answer is started: one start at a time, with a pause between two. Pure. */

export class Starts {
  /** A start has begun, and is not known to have failed or to have brought what it should. */
  isUnderWay = false;
  private last = Number.NEGATIVE_INFINITY;

  /** `pause`: milliseconds. */
  constructor(private readonly pause: number) {}

  /** Whether to start it now; if so, that has begun, and lasts until it has `ended`. */
  begin(now: number): boolean {
    if (this.isUnderWay || now - this.last < this.pause) return false;
    [this.isUnderWay, this.last] = [true, now];
    return true;
  }

  ended(): void {
    this.isUnderWay = false;
  }
}
