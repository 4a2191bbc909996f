"""Tables of units of measure and currencies, by spelling."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unit:
    """One `symbol` is `factor` times the `base`; degrees add `offset` first."""

    symbol: str
    base: str
    factor: float
    offset: float = 0.0

    def in_base(self, value: float) -> float:
        return (value + self.offset) * self.factor


_TABLE = """
m        m    1            metre metres meter meters
km       m    1000         kilometre kilometres kilometer kilometers
cm       m    0.01         centimetre centimetres centimeter centimeters
mm       m    0.001        millimetre millimetres millimeter millimeters
mi       m    1609.344     mile miles
ft       m    0.3048       foot feet
yd       m    0.9144       yard yards
inch     m    0.0254       inches
ly       m    9.4607304725808e15 light-year light-years light_year light_years
AU       m    149597870700 astronomical_unit astronomical_units
g        kg   0.001        gram grams gramme grammes
kg       kg   1            kilogram kilograms kilo kilos
mg       kg   1e-6         milligram milligrams
t        kg   1000         tonne tonnes metric_ton metric_tons
lb       kg   0.45359237   lbs pound pounds
oz       kg   0.028349523125 ounce ounces
s        s    1            sec second seconds
min      s    60           mins minute minutes
h        s    3600         hr hrs hour hours
day      s    86400        days
week     s    604800       weeks
month    s    2629746      months
year     s    31556952     years yrs
decade   s    315569520    decades
century  s    3155695200   centuries
m²       m²   1            m2 square_metre square_metres square_meter square_meters
km²      m²   1e6          km2 sq_km square_kilometre square_kilometres square_kilometer square_kilometers
mi²      m²   2589988.110336 sq_mi square_mile square_miles
ft²      m²   0.09290304   sq_ft square_foot square_feet
ha       m²   10000        hectare hectares
acre     m²   4046.8564224 acres
L        m³   0.001        l litre litres liter liters
ml       m³   1e-6         mL millilitre millilitres milliliter milliliters
m³       m³   1            m3 cubic_metre cubic_metres cubic_meter cubic_meters
gal      m³   0.003785411784 gallon gallons
m/s      m/s  1            metres_per_second meters_per_second
km/h     m/s  0.2777777777777778 kph kmh kilometres_per_hour kilometers_per_hour
mph      m/s  0.44704      miles_per_hour
W        W    1            watt watts
kW       W    1000         kilowatt kilowatts
MW       W    1e6          megawatt megawatts
GW       W    1e9          gigawatt gigawatts
J        J    1            joule joules
kWh      J    3.6e6        kilowatt-hour kilowatt-hours kilowatt_hours
kcal     J    4184         calorie calories kilocalories
Hz       Hz   1            hertz
kHz      Hz   1000         kilohertz
MHz      Hz   1e6          megahertz
GHz      Hz   1e9          gigahertz
KB       B    1000         kB kilobyte kilobytes
MB       B    1e6          megabyte megabytes
GB       B    1e9          gigabyte gigabytes
TB       B    1e12         terabyte terabytes
%        1    0.01         percent per_cent
"""


def _units() -> dict[str, Unit]:
    units = {}
    for line in _TABLE.strip().splitlines():
        symbol, base, factor, *names = line.split()
        unit = Unit(symbol, base, float(factor))
        units.update({name.replace("_", " "): unit for name in (symbol, *names)})
    celsius, fahrenheit = Unit("°C", "K", 1.0, 273.15), Unit("°F", "K", 5 / 9, 459.67)
    units |= dict.fromkeys(("°C", "° C", "degrees Celsius", "degrees celsius", "celsius", "Celsius"), celsius)
    units |= dict.fromkeys(
        ("°F", "° F", "degrees Fahrenheit", "degrees fahrenheit", "fahrenheit", "Fahrenheit"), fahrenheit
    )
    units |= dict.fromkeys(("K", "kelvin", "Kelvin", "kelvins"), Unit("K", "K", 1.0))
    return units


UNITS = _units()
"""Units by spelling. Symbols are case-sensitive ("g" is not "G"); longer words are lower-case."""

SYMBOLS = {
    "US$": "USD", "A$": "AUD", "C$": "CAD", "NZ$": "NZD", "HK$": "HKD", "R$": "BRL", "$": "USD", "€": "EUR", "£": "GBP",
    "¥": "JPY", "₹": "INR", "₩": "KRW", "₽": "RUB", "₺": "TRY", "₪": "ILS", "฿": "THB", "₴": "UAH", "₫": "VND",
}  # fmt: skip
"""Currencies by sign; the most common one if several share it."""

CODES = frozenset("USD EUR GBP JPY CHF CAD AUD NZD CNY INR KRW RUB BRL MXN SEK NOK DKK PLN CZK HUF TRY ZAR".split())  # noqa: SIM905

CURRENCIES = {
    "dollar": ("USD", 1.0), "us dollar": ("USD", 1.0), "u.s. dollar": ("USD", 1.0), "american dollar": ("USD", 1.0),
    "australian dollar": ("AUD", 1.0), "canadian dollar": ("CAD", 1.0), "buck": ("USD", 1.0), "cent": ("USD", 0.01),
    "euro": ("EUR", 1.0), "pound sterling": ("GBP", 1.0), "british pound": ("GBP", 1.0), "quid": ("GBP", 1.0),
    "pence": ("GBP", 0.01), "yen": ("JPY", 1.0), "yuan": ("CNY", 1.0), "renminbi": ("CNY", 1.0), "rupee": ("INR", 1.0),
    "rouble": ("RUB", 1.0), "ruble": ("RUB", 1.0), "swiss franc": ("CHF", 1.0), "franc": ("CHF", 1.0),
    "peso": ("MXN", 1.0), "won": ("KRW", 1.0), "krona": ("SEK", 1.0), "zloty": ("PLN", 1.0), "lira": ("TRY", 1.0),
}  # fmt: skip
"""Currencies by name, with the value of one unit. Bare "pounds" are a mass: see `UNITS`."""
