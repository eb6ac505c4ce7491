-- Begins to build a home that is absent, or joins a build that another builder may have given up.
-- KEYS: home_state.
-- Returns the number of changes to the home since its build began, false when the home is ready.
return begin_building(home_state, false)
