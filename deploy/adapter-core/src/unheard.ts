/** A request that has reached nobody, so that nothing was done. After any other error it may have been done. */
export class Unheard extends Error {
  override readonly name = "Unheard";
}
