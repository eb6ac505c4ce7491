export default {
  schema: process.env.PERCH_SCHEMA,
  documents: ["program.ts"],
  generates: {
    "generated/": {
      preset: "client",
      presetConfig: { persistedDocuments: true },
      config: { useTypeImports: true, strictScalars: true, scalars: { DateTime: "string" }, documentMode: "string" },
    },
  },
};
