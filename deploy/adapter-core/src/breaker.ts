/** A circuit breaker: after several failures in a row nothing is tried for a while. */

const FAILURES = 3;
const FIRST_PAUSE = 5000;
const LONGEST_PAUSE = 60_000;
/** Failures in a row after which nobody is thought to be there: one may be a hiccup. */
const SILENCE = 2;

export class Breaker {
  private failures = 0;
  private pause = FIRST_PAUSE;
  private until = 0;

  allows(now: number): boolean {
    return now >= this.until;
  }

  /** Nobody has answered several times in a row. A pause ends by itself; this only by an answer. */
  get isSilent(): boolean {
    return this.failures >= SILENCE;
  }

  succeeded(): void {
    [this.failures, this.pause, this.until] = [0, FIRST_PAUSE, 0];
  }

  failed(now: number): void {
    this.failures += 1;
    if (this.failures < FAILURES) return;
    this.until = now + this.pause;
    this.pause = Math.min(this.pause * 2, LONGEST_PAUSE);
  }
}
