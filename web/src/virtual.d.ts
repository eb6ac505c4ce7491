declare module "virtual:schema-facts" {
  export const possibleTypes: Record<string, string[]>;
  export const withoutId: string[];
}

declare module "virtual:first-requests" {
  /** The bodies of the requests that the public page and the home begin with. */
  export const explore: string[];
  export const home: string[];
}
