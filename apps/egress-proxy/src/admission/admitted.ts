/** What let a connection through, of those that app-server is asked about. */
export interface Admitted {
  /** The organization's rule; `null`: the installation lists the host. */
  readonly rule: string | null;
  /** The installation lists the host, whatever rule there is besides. */
  readonly listed: boolean;
  /** Requests are judged there, for a credential or a rule: the connection is made to credential-broker. */
  readonly brokered: boolean;
  /** `false`: app-server could not be asked, and the list alone let it through. */
  readonly decided: boolean;
  /** Count of changes when it did: what has changed since was not known. */
  readonly changes: number;
}
